/** The messages between the statements part and its loop over clients. */

/**
 * The statements of an end-of-day run by a loop over clients, with this concurrency. It reads one database and writes
 * another.
 */
export interface PlainNightQuestion {
  readonly databaseUrl: string
  readonly ownUrl: string
  readonly clientIds: ReadonlyArray<number>
  readonly concurrency: number
  readonly from: number
  readonly to: number
}

export interface PlainNightResult {
  readonly statements: number
  readonly millis: number
}
