"use strict";
(function () {
  var tools = document.getElementById("tools");
  var field = document.getElementById("filter");
  var said = document.getElementById("said");
  var questions = Array.prototype.slice.call(document.querySelectorAll("details.question"));
  var texts = questions.map(function (one) { return one.textContent.toLowerCase(); });

  function filter() {
    var words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    var count = 0;
    questions.forEach(function (one, index) {
      var shown = words.every(function (word) { return texts[index].indexOf(word) !== -1; });
      one.hidden = !shown;
      count += shown ? 1 : 0;
    });
    said.textContent = count + " of " + questions.length;
  }

  function openAll(open) {
    questions.forEach(function (one) { one.open = open; });
  }

  function reveal() {
    var id = decodeURIComponent(location.hash.slice(1));
    var target = id && document.getElementById(id);
    if (!target) { return; }
    for (var one = target; one; one = one.parentElement) {
      if (one.tagName === "DETAILS") { one.open = true; }
      if (one.hidden) { one.hidden = false; }
    }
    target.scrollIntoView();
  }

  field.addEventListener("input", filter);
  document.getElementById("open").addEventListener("click", function () { openAll(true); });
  document.getElementById("close").addEventListener("click", function () { openAll(false); });
  window.addEventListener("hashchange", reveal);
  window.addEventListener("beforeprint", function () { openAll(true); });
  tools.hidden = false;
  filter();
  reveal();
}());
