/** The messages between the benchmark and a reference program's process. */

/**
 * `typical`: the handler that most teams would write first. `tuned`: the same with prepared statements, with the row
 * that all requests share locked last, and with the smaller pool that suits two cores.
 */
export type Style = "typical" | "tuned"

export const poolSizes: { readonly [S in Style]: number } = { typical: 10, tuned: 6 }

/** Serves HTTPS on a free port of 127.0.0.1. */
export interface ServeQuestion {
  readonly style: Style
  readonly databaseUrl: string
  readonly certificate: string
  readonly key: string
}
