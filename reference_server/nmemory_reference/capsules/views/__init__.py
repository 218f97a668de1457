"""Views: what is stored, shown whole, listed, counted or drawn; none of them writes."""
