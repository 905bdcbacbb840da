/** How long something has waited, in its largest unit: 45s, 12m, 3h, 4d, 9y. */
const units = [
  ["y", 365 * 86_400_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000]
] as const

/** Milliseconds; what is not over yet has waited for nothing. */
export const age = (millis: number): string => {
  for (const [unit, length] of units) if (millis >= length) return `${Math.floor(millis / length)}${unit}`
  return `${Math.max(0, Math.floor(millis / 1_000))}s`
}
