/** The sizes of this process's batches in commits: the last ones one by one, and all of them as a histogram (metrics). */
export const batchBuckets = [1, 2, 4, 8, 16, 32, 64, 128, 256] as const

const kept = 1_024

export class BatchSizes {
  /** The number of commits in each of the last batches, the newest last. */
  readonly recent: Array<number> = []
  /**
   * The histogram of all batches. Entry n counts the batches whose size is at most bucket n and above the bucket before.
   */
  readonly buckets: Array<number> = batchBuckets.map(() => 0)
  batches = 0
  commits = 0

  push(size: number): void {
    this.recent.push(size)
    if (this.recent.length > kept) this.recent.shift()
    this.batches++
    this.commits += size
    const place = batchBuckets.findIndex((bound) => size <= bound)
    if (place !== -1) this.buckets[place] = (this.buckets[place] ?? 0) + 1
  }
}
