/** Shortens fingerprints to their first digits for people; --json prints them complete. */

/** Replaces words of 64 hexadecimal digits (SHA-256) by their first eight. */
export const shortPrints = (line: string): string => line.replaceAll(/\b([0-9a-f]{8})[0-9a-f]{56}\b/gi, "$1…")

/** Applies `shortPrints` to every text in plain data. */
export const withShortPrints = (value: unknown): unknown => {
  if (typeof value === "string") return shortPrints(value)
  if (Array.isArray(value)) return value.map(withShortPrints)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withShortPrints(member)]))
}
