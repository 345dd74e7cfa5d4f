"""llm.prompts"""
