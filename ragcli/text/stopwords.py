"""Function words by language (ISO 639-1): what queries drop, and what tells a language.

Case-folded, composed. Short on purpose: these are the words that make up about a
third of running text, so that a dozen words suffice to tell the language.
"""

from __future__ import annotations

_WORDS: dict[str, str] = {
    "en": "a about after all also am an and any are as at be because been before being but by "
    "can could did do does for from had has have he her here him his how i if in into is it its "
    "me more my no not of on only or other our out over she should so some such than that the "
    "their them then there these they this those through to under up us was we were what when "
    "where which while who whom whose why will with would you your",
    "de": "aber alle als also am an auch auf aus bei beim bis da das dass dem den der des die "
    "dies diese dieser dieses doch du durch ein eine einem einen einer eines er es für gegen hat "
    "habe haben ich ihr ihre im in ins ist ja kann kein keine man mehr mit nach nicht noch nur "
    "oder ohne sein seine sich sie sind so über um und uns unter vom von vor war waren was wenn "
    "wer werden wie wir wird wo wurde wurden zu zum zur zwischen",
    "fr": "à au aux avec avait ce ces cet cette comme dans de des donc du elle elles en entre est "
    "et été était être eu il ils je la le les leur leurs lui mais même mes mon ne nos notre nous "
    "on ont ou où par pas plus pour qu que qui quoi sa sans se ses son sont sous sur ta te tu un "
    "une vos votre vous y",
    "es": "a al algo antes como con contra cual cuando de del desde donde durante el él ella ellas "
    "ellos en entre era es esa ese eso esta está este esto fue ha han hasta hay la las le les lo "
    "los más me mi mucho muy nada ni no nos o otra otro para pero por porque qué que quien se ser "
    "si sin sobre son su sus también tiene todo todos tu un una uno y ya yo",
    "it": "a agli ai al alla alle anche che chi ci come con cui da dal dalla dalle dei del della "
    "delle degli di dove e è ed era essere fra gli ha hanno i il in io la le lei lo loro lui ma mi "
    "mia mio nei nel nella nelle noi non nostro o ogni per perché più quale quando quello questa "
    "questo se sei si sia sono stato su sua sui sul sulla suo tra tu un una uno voi",
    "pt": "a à ao aos as às até com como da das de dela dele do dos e é ela ele eles em entre era "
    "essa esse esta está este eu foi há isso isto já lhe mais mas me mesmo meu minha muito na não "
    "nas nem no nos nós o os ou para pela pelo por porque qual quando que quem se sem ser seu seus "
    "só sua suas também te tem um uma você",
    "nl": "aan al alles als altijd ben bij daar dan dat de der deze die dit doen door dus een en er "
    "ge geen had heb hebben heeft hem het hier hij hoe hun ik in is ja je kan kunnen maar me meer "
    "men met mij mijn moet na naar niet nog nu of om omdat onder ons ook op over te toch toen tot "
    "uit van veel voor was wat we wel werd wie wij worden wordt ze zelf zich zij zijn zo zonder zou",
    "sv": "alla att av blev bli blir de dem den denna deras dess det detta dig din dina du där då "
    "efter ej eller en er ett från för ha hade han hans har henne hon hur här i icke ingen inom "
    "inte jag kan kunde man med mellan men mig min mot mycket ni nu när någon något och om oss på "
    "samma sedan sig sin sitt ska skulle som så till under upp ut utan vad var vara vem vi vid är",
    "da": "ad af alle alt at blev blive bliver da de dem den denne der deres det dette dig din dog "
    "du efter eller en end er et for fra ham han hans har havde hende her hos hun hvad hvis hvor i "
    "ikke ind jeg jer kan kunne man mange med meget men mig min mod ned noget nogle nu når og også "
    "om op os over på selv sig sin skal skulle som så til ud under var ved vi vil ville være været",
    "no": "av at begge ble bli blir da de deg dem den denne der dere deres det dette di din disse du "
    "eller en enn er et etter for fordi fra før ha hadde han hans har hennes her hun hva hvem hvis "
    "hvor hvorfor i ikke ingen jeg kan kunne man mange med meg mellom men mer min mot mye noe noen "
    "nå når og også om opp oss over på samme seg selv sin skal skulle slik som så til um ut uten "
    "var vart ved vi vil ville være vært å",
    "fi": "ei eivät että hän he häntä ja joka jos jotka kanssa koska kuin kun me mikä minä mitä mukaan "
    "mutta myös ne niin noin nyt ole oli olla olivat on ovat saa se sekä sen siitä siinä sinä tai "
    "tämä tämän te tulee vaan vai vaikka voi",
    "pl": "a aby albo ale bez bo by być był była było były co czy dla do go gdy gdzie i ich ile im "
    "inne ja jak jako je jego jej jest jestem jeszcze już każdy kiedy kto która które który którzy "
    "lub ma może mu na nad nie niż o od on ona one oraz po pod poza przed przez przy są się ta tak "
    "także tam te tego tej ten to tu tylko tym u w we więc z za ze że żeby",
    "cs": "a aby ale ani asi až bez bude by byl byla bylo být co či do i já jak jako je jeho její "
    "jejich jen ještě jeden již jsem jsou k kde kdo když která které který ma má mezi na nad nebo "
    "není než nic o od on po pod podle pokud pro proto před přes při s se si tak také tedy ten to "
    "toho tom tu ty u už v ve však více z za ze že",
    "hu": "a abban ahogy aki amely ami amikor át az azok azt be csak de e egy egyes egyik el elég "
    "és ez ezek ezt fel ha hanem hogy hogyan igen ill ilyen így is itt ki kell késő le lesz lett "
    "maga már még meg mely mert mi minden mint mit nagy nem néha nincs ők olyan ott össze rá sem "
    "soha szerint több úgy után utolsó vagy vagyok van vannak volna volt vissza",
    "ro": "a acea această acest al ale am ar are au ca că când care ce cel cele cea cei cu cum da "
    "dar de decât deci din după e el ei era este eu fi fie fost găsit în îi îl între la le lui mai "
    "mea mult nu o or pe pentru poate prin sa să sau se sunt și şi său tot un una unei unor unui va "
    "vor",
    "tr": "acaba ama aslında az bazı belki ben beni bir biraz birçok biri biz böyle bu bunlar bunu "
    "çok çünkü da daha de defa diye en gibi göre hem hep hepsi her hiç için ile ise kadar ki kim "
    "mı mi mu mü nasıl ne neden nerede o olan olarak oldu olduğu olur ona onlar sanki şey siz şu "
    "tüm ve veya ya yani",
    "ca": "al als amb aquest aquesta això amb com d de del dels des el ella els en entre era és "
    "estat està fins ha han hi i la les li l'a molt més no o on pel per però perquè qual quan que "
    "qui s'ha se seu seva si sobre són també té tot un una uns",
    "id": "ada adalah agar akan antara apa atau bagi bahwa banyak belum bisa dalam dan dapat dari "
    "dengan di dia hanya harus ia ini itu jika juga kami kamu karena ke kepada kita lain lebih maka "
    "masih mereka oleh pada para saat saja sangat saya secara sebagai seperti serta setelah sudah "
    "telah tersebut tidak untuk yang",
    "ru": "а бы был была были было быть в вам вас во вот все всех вы где да для до его ее если есть "
    "еще же за и из или им их к как когда которые который кто ли меня мне может мы на над не него "
    "нет ни но о об он она они оно от перед по под при с себя со так также там то только ты у уже "
    "чем что чтобы эта эти это этого этот я",
    "uk": "а або але був була були було бути в вже ви від він вона вони все всі де для до з за й "
    "його її їх і із інші як яка які який якщо коли ми на над не немає ні о од по при про та так "
    "також там те ти то тому у уже це цей ця ці через чи що щоб я є",
    "bg": "а ако аз без бе беше би бил била били бъде във вече ги го да до е ето за и из или им има "
    "как какво като кой което които която към ли ме между ми много му на над най не него нея ни но "
    "обаче от по под при с са само се си след със така там те това този той тя тях че ще",
}

STOP_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split()) for language, words in _WORDS.items()
}
