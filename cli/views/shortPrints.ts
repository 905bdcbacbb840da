/** Shortens fingerprints for people to their first digits; --json has them whole. */

/** Replaces words of 64 hexadecimal digits (SHA-256) by their first eight. */
export const shortPrints = (line: string): string => line.replaceAll(/\b([0-9a-f]{8})[0-9a-f]{56}\b/gi, "$1…")

/** As `shortPrints`, in every text of plain data. */
export const withShortPrints = (value: unknown): unknown => {
  if (typeof value === "string") return shortPrints(value)
  if (Array.isArray(value)) return value.map(withShortPrints)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withShortPrints(member)]))
}
