"""The page of Moctezuma's Revenge: what a seat may know, and the regions it is drawn from."""
