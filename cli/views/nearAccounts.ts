/** The accounts nearest to a close-out in a market, for 80 columns (operator surface, margin watch). */
import type { NearAccounts } from "../../src/machines/margin/nearAccounts.ts"
import { stack, table, text, time, type View, richText } from "./View.ts"
import { plural } from "../../src/machines/shared/Text.ts"

export const nearAccounts = ({ asOf, symbol, mark, markFresh, holders, accounts }: NearAccounts): View =>
  stack(
    text(
      richText`${symbol}  mark ${mark ?? "unknown"}${markFresh ? "" : " (not fresh)"}  ${plural(holders, "holder")}  ${time(asOf)}`
    ),
    table(
      accounts,
      {
        client: (row) => row.clientUid,
        qty: (row) => row.netQty,
        "level %": (row) => row.marginLevel,
        "out at": (row) => row.estLiquidationPrice,
        "away %": (row) => row.distancePct,
        "p&l": (row) => row.unrealizedPnl,
        state: (row) => (row.closeOutId === null ? row.recorded : `CO-${row.closeOutId}`)
      },
      "no client has a position there"
    )
  )
