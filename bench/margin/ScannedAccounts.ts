/**
 * The reference of the index: the same accounts as plain arrays of floats, one after the other. A scan finds the accounts whose
 * margin is not covered. It leaves out risk tiers, recorded states and losses, which spares it a good part of the work.
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
  /** Where the positions of an account begin; one more at the end. */
  private first = new Int32Array(0)
  private market = new Uint8Array(0)
  private qty = new Float64Array(0)
  private entry = new Float64Array(0)
  /** Margin of each unit of the price. */
  private ties = new Float64Array(0)

  add(clientId: number, cash: number, positions: ReadonlyArray<ScannedPosition>): void {
    this.clients.push(clientId)
    this.drawnCash.push(cash)
    this.drawnFirst.push(this.drawn.length)
    this.drawn.push(...positions)
  }

  /** Lays all accounts out in arrays. */
  begin(): void {
    const { drawn } = this
    this.cash = Float64Array.from(this.drawnCash)
    this.first = Int32Array.from([...this.drawnFirst, drawn.length])
    this.market = Uint8Array.from(drawn, ({ market }) => market)
    this.qty = Float64Array.from(drawn, ({ qty }) => qty)
    this.entry = Float64Array.from(drawn, ({ entry }) => entry)
    this.ties = Float64Array.from(drawn, ({ qty, leverage }) => Math.abs(qty) / leverage)
  }

  /** Goes through all positions; ids of those whose margin is not covered. */
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
