/** Durations as people write them: 500ms, 90s, 15m, 8h, 2d (operator surface, sim clock advance). */
const millis = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** The duration in milliseconds; null when the text is no positive duration. */
export const parseDuration = (text: string): number | null => {
  const match = /^([1-9][0-9]{0,8})(ms|[smhd])$/.exec(text)
  if (match === null) return null
  const value = Number(match[1]) * millis[match[2] as keyof typeof millis]
  return Number.isSafeInteger(value) ? value : null
}
