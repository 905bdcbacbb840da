/** What the benchmark asks of a reference program's process. */

/**
 * `typical`: the handler most teams would write first. `tuned`: the same with prepared statements, the row that all
 * requests share locked last, and the smaller pool that suits two cores.
 */
export type Style = "typical" | "tuned"

export const poolSizes: { readonly [S in Style]: number } = { typical: 10, tuned: 6 }

/** Serves HTTPS on a free port of 127.0.0.1. */
export interface ServeQuestion {
  readonly kind: "serve"
  readonly style: Style
  readonly databaseUrl: string
  readonly certificate: string
  readonly key: string
}

/** Runs the tuned statements without HTTP, `concurrency` connections at once. */
export interface PlainSqlQuestion {
  readonly kind: "plainSql"
  readonly databaseUrl: string
  readonly concurrency: number
  readonly millis: number
  readonly clientIds: ReadonlyArray<number>
  readonly tag: string
}

export type ReferenceQuestion = ServeQuestion | PlainSqlQuestion

export interface PlainSqlResult {
  readonly rate: number
  readonly acknowledged: number
  readonly p50Millis: number
  readonly p99Millis: number
}

export type ReferenceAnswer = { readonly port: number } | PlainSqlResult
