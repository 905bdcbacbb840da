/** What the partner surface of this process answered, by status (metrics). Numbers alone, counted on every answer. */
const counts: Record<number, number> = {}

export const countAnswer = (status: number): void => {
  counts[status] = (counts[status] ?? 0) + 1
}

export const answerCounts = (): Readonly<Record<number, number>> => counts
