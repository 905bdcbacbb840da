/**
 * The reference of the risk index: the same accounts as plain arrays of floats. A scan finds the accounts whose margin
 * is not covered. It ignores risk tiers, recorded states and losses, which saves much of the work.
 */

export interface ScannedPosition {
  readonly market: number
  readonly qty: number
  readonly entry: number
  readonly leverage: number
}

export class ScannedAccounts {
  private readonly clients: Array<number> = []
  private readonly drawnCash: Array<number> = []
  private readonly drawn: Array<ScannedPosition> = []
  private readonly drawnFirst: Array<number> = []
  private cash = new Float64Array(0)
  /** The index of the first position of each account, and one more entry for the end. */
  private first = new Int32Array(0)
  private market = new Uint8Array(0)
  private qty = new Float64Array(0)
  private entry = new Float64Array(0)
  /** The margin of a position per unit of the price. */
  private ties = new Float64Array(0)

  add(clientId: number, cash: number, positions: ReadonlyArray<ScannedPosition>): void {
    this.clients.push(clientId)
    this.drawnCash.push(cash)
    this.drawnFirst.push(this.drawn.length)
    this.drawn.push(...positions)
  }

  /** Writes all accounts into the arrays. */
  begin(): void {
    const { drawn } = this
    this.cash = Float64Array.from(this.drawnCash)
    this.first = Int32Array.from([...this.drawnFirst, drawn.length])
    this.market = Uint8Array.from(drawn, ({ market }) => market)
    this.qty = Float64Array.from(drawn, ({ qty }) => qty)
    this.entry = Float64Array.from(drawn, ({ entry }) => entry)
    this.ties = Float64Array.from(drawn, ({ qty, leverage }) => Math.abs(qty) / leverage)
  }

  /** Scans all positions. Returns the ids of the accounts whose margin is not covered. */
  scan(marks: Float64Array): ReadonlyArray<number> {
    const { cash, first, market, qty, entry, ties } = this
    const found: Array<number> = []
    let at = 0
    for (let account = 0; account < cash.length; account++) {
      let equity = cash[account] as number
      let margin = 0
      for (const end = first[account + 1] as number; at < end; at++) {
        const mark = marks[market[at] as number] as number
        equity += (qty[at] as number) * (mark - (entry[at] as number))
        margin += (ties[at] as number) * mark
      }
      if (equity < margin) found.push(this.clients[account] as number)
    }
    return found
  }
}
