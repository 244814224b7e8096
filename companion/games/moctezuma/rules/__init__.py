"""The rules of Moctezuma's Revenge, in a few files that read like its rulebook."""
