"""cite"""
