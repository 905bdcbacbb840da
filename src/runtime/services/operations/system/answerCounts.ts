/** Counts the replies of this process's partner surface by status, for metrics. */
const counts: Record<number, number> = {}

export const countAnswer = (status: number): void => {
  counts[status] = (counts[status] ?? 0) + 1
}

export const answerCounts = (): Readonly<Record<number, number>> => counts
