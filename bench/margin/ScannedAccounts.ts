/**
 * What the index is measured beside: the same accounts as plain arrays of floats, one after the other, and as two tables. Asked
 * is only whose margin is not covered any more; risk tiers, recorded states and losses to be told are left out, which spares the
 * scans a good part of their work.
 */
import type { Client } from "pg"

export interface ScannedPosition {
  readonly market: number
  readonly qty: number
  readonly entry: number
  readonly leverage: number
}

/** Rows of one statement. */
const chunk = 100_000

export class ScannedAccounts {
  private readonly clients: Array<number> = []
  private readonly drawnCash: Array<number> = []
  private readonly drawn: Array<ScannedPosition> = []
  private readonly drawnFirst: Array<number> = []
  private readonly markets: number
  private cash = new Float64Array(0)
  /** Where the positions of an account begin; one more at the end. */
  private first = new Int32Array(0)
  private market = new Uint8Array(0)
  private qty = new Float64Array(0)
  private entry = new Float64Array(0)
  /** Margin of each unit of the price. */
  private ties = new Float64Array(0)
  /** Sums of each account at the marks that were told last, and of each market its positions. */
  private equity = new Float64Array(0)
  private margin = new Float64Array(0)
  private owner = new Int32Array(0)
  private holders: ReadonlyArray<Int32Array> = []
  private told = new Float64Array(0)

  constructor(markets: number) {
    this.markets = markets
  }

  add(clientId: number, cash: number, positions: ReadonlyArray<ScannedPosition>): void {
    this.clients.push(clientId)
    this.drawnCash.push(cash)
    this.drawnFirst.push(this.drawn.length)
    this.drawn.push(...positions)
  }

  /** All are there; lays them out, with their sums at these marks. */
  begin(marks: Float64Array): void {
    const { drawn, clients } = this
    this.cash = Float64Array.from(this.drawnCash)
    this.first = Int32Array.from([...this.drawnFirst, drawn.length])
    this.market = Uint8Array.from(drawn, ({ market }) => market)
    this.qty = Float64Array.from(drawn, ({ qty }) => qty)
    this.entry = Float64Array.from(drawn, ({ entry }) => entry)
    this.ties = Float64Array.from(drawn, ({ qty, leverage }) => Math.abs(qty) / leverage)
    this.owner = new Int32Array(drawn.length)
    this.equity = Float64Array.from(this.cash)
    this.margin = new Float64Array(clients.length)
    const held: Array<Array<number>> = Array.from({ length: this.markets }, () => [])
    for (let account = 0; account < clients.length; account++) {
      for (let at = this.first[account] as number; at < (this.first[account + 1] as number); at++) {
        const market = this.market[at] as number
        const mark = marks[market] as number
        held[market]?.push(at)
        this.owner[at] = account
        this.equity[account] = (this.equity[account] as number) + this.qty[at]! * (mark - this.entry[at]!)
        this.margin[account] = (this.margin[account] as number) + this.ties[at]! * mark
      }
    }
    this.holders = held.map((positions) => Int32Array.from(positions))
    this.told = Float64Array.from(marks)
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

  /** Goes through the holders of one market, whose sums are kept; ids of those among them whose margin is not covered. */
  moved(market: number, mark: number): ReadonlyArray<number> {
    const { owner, qty, ties, equity, margin } = this
    const by = mark - (this.told[market] as number)
    this.told[market] = mark
    const found: Array<number> = []
    const held = this.holders[market] as Int32Array
    for (let n = 0; n < held.length; n++) {
      const at = held[n] as number
      const account = owner[at] as number
      const left = (equity[account] as number) + (qty[at] as number) * by
      const tied = (margin[account] as number) + (ties[at] as number) * by
      equity[account] = left
      margin[account] = tied
      if (left < tied) found.push(this.clients[account] as number)
    }
    return found
  }

  /** Two tables of the figures, beside the service's own. */
  async store(client: Client): Promise<void> {
    await client.query("CREATE SCHEMA scanned")
    await client.query("CREATE TABLE scanned.accounts (client_id bigint PRIMARY KEY, cash float8 NOT NULL)")
    await client.query(
      "CREATE TABLE scanned.positions (client_id bigint, market int NOT NULL, qty float8 NOT NULL, entry float8 NOT NULL, leverage float8 NOT NULL)"
    )
    for (let from = 0; from < this.clients.length; from += chunk)
      await client.query("INSERT INTO scanned.accounts SELECT * FROM unnest($1::bigint[], $2::float8[])", [
        this.clients.slice(from, from + chunk),
        this.drawnCash.slice(from, from + chunk)
      ])
    for (let from = 0; from < this.drawn.length; from += chunk) {
      const part = this.drawn.slice(from, from + chunk)
      await client.query(
        "INSERT INTO scanned.positions SELECT * FROM unnest($1::bigint[], $2::int[], $3::float8[], $4::float8[], $5::float8[])",
        [
          part.map((_, n) => this.clients[this.owner[from + n] as number]),
          part.map(({ market }) => market),
          part.map(({ qty }) => qty),
          part.map(({ entry }) => entry),
          part.map(({ leverage }) => leverage)
        ]
      )
    }
    await client.query("CREATE INDEX ON scanned.positions (client_id)")
    await client.query("VACUUM ANALYZE scanned.accounts")
    await client.query("VACUUM ANALYZE scanned.positions")
  }

  /** One statement over all of them. */
  async selectCrossed(client: Client, marks: Float64Array): Promise<ReadonlyArray<number>> {
    const { rows } = await client.query<{ readonly id: string }>({
      name: "crossed",
      text: `SELECT client_id AS id
               FROM (SELECT client_id, sum(qty * (mark - entry)) AS profit, sum(abs(qty) * mark / leverage) AS margin
                       FROM scanned.positions JOIN unnest($1::float8[]) WITH ORDINALITY AS m(mark, n) ON n = market + 1
                      GROUP BY client_id) p
               JOIN scanned.accounts USING (client_id) WHERE cash + profit < margin`,
      values: [[...marks]]
    })
    return rows.map(({ id }) => Number(id))
  }
}
