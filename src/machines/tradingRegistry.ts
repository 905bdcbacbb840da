/** The machines of trading: objects that call the venue or open exposure, and the monitors of accounts. */
import type { VenueOwner } from "./venue/venueRefs.ts"
import { contractInput, contractSamples } from "./contract/contractSamples.ts"
import { contractMachine } from "./contract/contractMachine.ts"
import { boundedHalt, openHalt, tradingHaltSamples } from "./market/tradingHaltSamples.ts"
import { closeOutInput, closeOutSamples } from "./margin/closeOutSamples.ts"
import { closeOutMachine } from "./margin/closeOutMachine.ts"
import { closeRfqInput, openRfqInput, rfqSamples } from "./rfq/rfqSamples.ts"
import { attachmentMachine } from "./order/attachmentMachine.ts"
import { attachmentInput, attachmentSamples } from "./order/attachmentSamples.ts"
import { orderMachine } from "./order/orderMachine.ts"
import { orderSamples, perpInput, spotInput, stopInput } from "./order/orderSamples.ts"
import { entry, unreached, operator, partner } from "./registryEntry.ts"
import { rfqMachine } from "./rfq/rfqMachine.ts"
import { riskMonitorInput, riskMonitorSamples } from "./margin/riskMonitorSamples.ts"
import { riskMonitorMachine } from "./margin/riskMonitorMachine.ts"
import { swapInput, swapSamples } from "./swap/swapSamples.ts"
import { swapMachine } from "./swap/swapMachine.ts"
import { tradingHaltMachine } from "./market/tradingHaltMachine.ts"
import { venueMisfitInput, venueMisfitSamples } from "./venueChecks/venueMisfitSamples.ts"
import { venueMisfitMachine } from "./venueChecks/venueMisfitMachine.ts"
import { venueProbeInput, venueProbeSamples } from "./venueChecks/venueProbeSamples.ts"
import { venueProbeMachine } from "./venueChecks/venueProbeMachine.ts"

export const tradingMachines = {
  venueProbe: entry({
    machine: venueProbeMachine,
    samples: venueProbeSamples,
    inputs: [venueProbeInput],
    title: "Venue probe",
    meaning: "One order that can neither fill nor rest, sent to test the calls of the venue.",
    clause: "D6; operator surface, sim venue",
    looks: { waiting: ["IN_FLIGHT"], ended: ["EXECUTED"], refused: ["REFUSED", "VOID"] },
    reached: {
      IN_FLIGHT: operator("`sim venue probe C`, while the venue has not answered"),
      EXECUTED: operator("`sim venue probe C`"),
      REFUSED: operator("`sim venue fault reject --route order`, then `sim venue probe C`"),
      VOID: operator("`sim venue fault timeout-before --route order`, then `sim venue probe C`")
    }
  }),
  venueMisfit: entry({
    machine: venueMisfitMachine,
    samples: venueMisfitSamples,
    inputs: [venueMisfitInput],
    title: "Venue misfit",
    meaning: "An object whose report by the venue does not fit our request, until an answer fits.",
    clause: "A2-115",
    looks: { waiting: ["READING"], ended: ["ENDED"], refused: ["STANDING"] },
    reached: {
      READING: operator("`sim venue fault false-fill-side --route order`, then POST .../orders of a MARKET"),
      STANDING: operator("a READING one whose fault lasts, half a minute later"),
      ENDED: operator("`sim venue clear`, then the next read of the object: `venue reconcile C` reads it at once")
    }
  }),
  rfq: entry({
    machine: rfqMachine,
    samples: rfqSamples,
    inputs: [openRfqInput, closeRfqInput],
    title: "Request for quotes",
    meaning: "A client's request to dealers for prices, to open a knock-out contract or to close one.",
    clause: "doc 2, RFQ; D4",
    looks: { waiting: ["CREATING", "OPEN"], ended: ["ACCEPTED", "CANCELLED", "EXPIRED"], refused: ["REJECTED"] },
    reached: {
      CREATING: operator("`sim venue fault timeout-before --route rfq`, then POST .../rfq, until the venue answers"),
      OPEN: partner("POST .../rfq with autoAccept false"),
      ACCEPTED: partner("POST .../rfq with autoAccept true, once a dealer has quoted"),
      CANCELLED: partner("POST .../rfq/{rfqId}/cancel of an OPEN request"),
      EXPIRED: partner("POST .../rfq with autoAccept false and expiresInMs 1000, a second later"),
      REJECTED: operator("`sim venue fault reject --route rfq`, then POST .../rfq")
    }
  }),
  barrierContract: entry({
    machine: contractMachine,
    samples: contractSamples,
    inputs: [contractInput],
    title: "Knock-out contract",
    meaning: "A contract between two levels, until the venue reports its end.",
    clause: "doc 2, Barrier contract; D5",
    looks: {
      waiting: [],
      ended: ["KNOCKED_OUT", "TAKE_PROFIT", "EXPIRED", "EARLY_CLOSE", "TORN_UP", "CLOSED"],
      refused: []
    },
    reached: {
      OPEN: partner("an accepted quote of POST .../rfq"),
      KNOCKED_OUT: operator("`sim venue price BTC-USDC-KO` through the barrier of an OPEN contract"),
      TAKE_PROFIT: operator("`sim venue price BTC-USDC-KO` through the take profit of an OPEN contract"),
      EXPIRED: operator("`sim clock advance` beyond the expiry of an OPEN contract"),
      EARLY_CLOSE: partner("POST .../barriers/{contractId}/close, once its dealer has quoted"),
      TORN_UP: operator("`ledger adjust C` that leaves the client in a close-out"),
      CLOSED: operator("`sim venue delist BTC-USDC-KO` with an OPEN contract")
    }
  }),
  order: entry({
    machine: orderMachine,
    samples: orderSamples,
    inputs: [perpInput, stopInput, spotInput],
    title: "Order",
    meaning: "An order on a perpetual or a spot market, from its hold to its last trade.",
    clause: "doc 2, Order states; D6",
    looks: {
      waiting: ["CHECKED", "SENT", "PENDING_TRIGGER", "PENDING_CANCEL"],
      ended: ["FILLED", "CANCELLED"],
      refused: ["REJECTED"]
    },
    reached: {
      CHECKED: unreached("a state that its own commit leaves"),
      SENT: operator("`sim venue fault timeout-after --route order`, then POST .../orders, until the venue answers"),
      ACKED: partner("POST .../orders of a LIMIT away from the market"),
      PARTIAL: operator(
        "`sim venue book BTC-USDC-PERP --size 0.01 --levels 1`, then POST .../orders of a larger LIMIT through it"
      ),
      PENDING_TRIGGER: partner("POST .../orders of a STOP_MARKET away from the market"),
      PENDING_CANCEL: operator("`sim venue fault timeout-before --route cancel`, then DELETE .../orders/{orderId}"),
      FILLED: partner("POST .../orders of a MARKET"),
      CANCELLED: partner("DELETE .../orders/{orderId} of a working order"),
      REJECTED: partner("POST .../orders of a POST_ONLY LIMIT through the market")
    }
  }),
  attachment: entry({
    machine: attachmentMachine,
    samples: attachmentSamples,
    inputs: [attachmentInput],
    title: "Attachment",
    meaning: "The take profit and the stop loss of an order, which follow its fills.",
    clause: "doc 2, Order attach; D7",
    looks: { waiting: ["PLACING"], ended: ["FIRED", "CLOSED"], refused: [] },
    reached: {
      ARMED: partner("POST .../orders of a LIMIT away from the market, with attach"),
      PLACING: operator(
        "`sim venue fault timeout-after --route order` as a LIMIT with attach fills, until the venue answers"
      ),
      ACTIVE: partner("POST .../orders of a MARKET, with attach"),
      FIRED: operator(
        "`sim venue fault timeout-before --route cancel`, then `sim venue price BTC-USDC-PERP` through the stop of an ACTIVE one whose order still works"
      ),
      CLOSED: operator("`sim venue price BTC-USDC-PERP` through a level of an ACTIVE one")
    }
  }),
  swap: entry({
    machine: swapMachine,
    samples: swapSamples,
    inputs: [swapInput],
    title: "Staking swap",
    meaning: "A part of a writer's offer, from its reserve to the writer's last payment.",
    clause: "doc 2, Swap states; D8",
    looks: {
      waiting: ["ACCEPTING"],
      ended: ["MATURED", "CURED", "FINAL_SETTLEMENT"],
      refused: ["REJECTED", "DEFAULTED"]
    },
    reached: {
      ACCEPTING: operator(
        "`sim venue fault timeout-before --route take`, then POST .../staking/{offerId}/accept, for 300 seconds"
      ),
      OPEN: partner("POST .../staking/{offerId}/accept"),
      REJECTED: operator("`sim venue fault reject --route take`, then POST .../staking/{offerId}/accept"),
      MATURED: operator("`sim clock advance` to the maturity of an OPEN swap"),
      DEFAULTED: operator("`sim venue fault writer-default --times 1`, then `sim clock advance` to the maturity"),
      CURED: operator("`sim venue pay CONTRACTID` of a DEFAULTED swap"),
      FINAL_SETTLEMENT: operator("`sim venue delist ETH-SWAP` with an OPEN swap")
    }
  }),
  riskMonitor: entry({
    machine: riskMonitorMachine,
    samples: riskMonitorSamples,
    inputs: [riskMonitorInput],
    title: "Risk monitor",
    meaning: "The recorded risk state of an account, which client rows show.",
    clause: "doc 2, Margin picture; D23",
    looks: { waiting: ["MARGIN_CALL", "CLOSE_OUT"], ended: [], refused: [] },
    reached: {
      NORMAL: operator("`ledger adjust C` that covers a margin call"),
      MARGIN_CALL: operator("`ledger adjust C` that leaves less cash than the premiums of the open contracts"),
      CLOSE_OUT: operator(
        "`ledger adjust C` that leaves less than half of the loss that the open contracts may still make"
      )
    }
  }),
  closeOut: entry({
    machine: closeOutMachine,
    samples: closeOutSamples,
    inputs: [closeOutInput],
    title: "Close-out",
    meaning: "An episode in which an account with too little margin is closed out and protected.",
    clause: "doc 3, NBP_WRITEOFF; F9, F10, D23",
    looks: {
      waiting: ["STARTED", "CANCELLING", "CLOSING", "WAITING_MARK", "WAITING_MARKET", "TEARING_UP", "PROTECTING"],
      ended: ["DONE"],
      refused: []
    },
    reached: {
      STARTED: unreached("a state that its own commit leaves"),
      CANCELLING: operator("`ledger adjust C` that leaves a close-out, with a request to open under way"),
      CLOSING: operator("`sim venue price BTC-USDC-PERP` at which the client's positions leave it in a close-out"),
      WAITING_MARK: operator(
        "a WAITING_MARKET whose market is halted, then `sim venue fault stale-marks`, ten seconds, `sim venue resume BTC-USDC-PERP`"
      ),
      WAITING_MARKET: operator("`sim venue halt BTC-USDC-PERP`, then `ledger adjust C` into a close-out"),
      TEARING_UP: operator("`ledger adjust C` that leaves the open contracts in a close-out"),
      PROTECTING: operator("a close-out whose last contract ended while an accept is in flight"),
      DONE: operator("`ledger adjust C` that leaves the client in a close-out, once its contracts are torn up")
    }
  }),
  tradingHalt: entry({
    machine: tradingHaltMachine,
    samples: tradingHaltSamples,
    inputs: [openHalt, boundedHalt],
    title: "Trading halt",
    meaning: "The operator's refusal of everything that opens risk, in some or all markets.",
    clause: "doc 2, GET /trading-status; A2-11",
    looks: { waiting: ["ACTIVE"], ended: ["ENDED"], refused: [] },
    reached: {
      ACTIVE: operator("`market halt SCOPE --message M`"),
      ENDED: operator(
        "`market resume SCOPE`; or `market halt SCOPE --message M --until MS` and then `sim clock advance`"
      )
    }
  })
} satisfies Readonly<Record<VenueOwner, unknown>> & Readonly<Record<string, unknown>>
