/** Examples of staking swaps for the OpenAPI document. */
import { swapReward, takerFee } from "../../machines/swap/swapFigures.ts"
import { formatAmount } from "../../machines/shared/Money.ts"

const openedTs = 1_763_985_571_250
const notional = 1_000_000_000n
const reward = swapReward(notional, 400, 7)
const eth = (minor: bigint): string => formatAmount(minor, "ETH")
const none = eth(0n)

const opened = {
  swapId: 4_101,
  contractId: 812,
  tradeId: 88_410,
  offerId: 31,
  symbol: "ETH-SWAP",
  name: "Ether staking",
  asset: "ETH",
  venueAsset: "ETH",
  displayDecimals: 6,
  qty: "10.000",
  notional: eth(notional),
  rateBps: 400,
  ratePct: "4.00",
  tenorDays: 7,
  reward: eth(reward),
  fee: eth(takerFee(notional, 5)),
  expectedPayout: eth(notional + reward),
  state: "OPEN",
  openedTs,
  maturityTs: openedTs + 7 * 86_400_000,
  closedTs: null,
  paid: none,
  outstanding: eth(notional + reward),
  claim: none,
  writtenOff: none,
  recovered: none,
  commission: none,
  commissionRewardBps: 1_000,
  estimatedCommission: eth(reward / 10n),
  settleReason: null,
  rejectReason: null,
  ts: openedTs + 40,
  createdAt: openedTs - 20
} as const

const passed = (gate: string, figure?: string, limit?: string) => ({
  gate,
  status: "passed" as const,
  compared: figure === undefined || limit === undefined ? null : { figure, limit },
  code: null,
  sentence: null
})

export const swapExamples = {
  opened,
  swaps: { swaps: [opened], hasMore: false, nextBefore: null },
  explanation: {
    write: "take",
    outcome: "REFUSED",
    code: 4000,
    sentence: "The free ETH of 4.00000000 does not cover notional and fee of 10.00500000.",
    data: null,
    gates: [
      passed("fields"),
      passed("offer"),
      passed("account", "ACTIVE", "not CLOSED"),
      passed("verification", "MICA_MIFID", "MICA_MIFID"),
      passed("restriction", "ACTIVE, NORMAL", "ACTIVE, not CLOSE_OUT"),
      passed("partner", "ACTIVE", "ACTIVE"),
      passed("venue", "connected", "connected"),
      passed("market", "enabled", "enabled"),
      passed("halt", "trading", "trading"),
      passed("step", "10", "a multiple of 0.001"),
      passed("minQty", "10", "at least 0.010"),
      passed("maxQty", "10", "at most 200.000"),
      passed("usedMarks"),
      {
        gate: "balance",
        status: "failed",
        compared: { figure: "10.00500000", limit: "at most 4.00000000" },
        code: 4000,
        sentence: "The free ETH of 4.00000000 does not cover notional and fee of 10.00500000."
      },
      { gate: "room", status: "notReached", compared: null, code: null, sentence: null }
    ]
  }
} as const
