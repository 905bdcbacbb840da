/**
 * The end of the cooling period of an appropriateness test. A durable timer of the client fires at retakeAt, and the
 * assessment's machine decides whether a retake is due. A client that is closed or refused for good gets no notice
 * (D19; A1-40, A2-64).
 */
import { retakeTimer } from "../../../../machines/appropriateness/Assessment.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import { moveAssessment } from "../client/clientDecisions.ts"
import { instanceOf } from "../../account/clientState.ts"
import type { Directory } from "../../partners/Directory.ts"
import { partnerOfTurn } from "../../partners/partnerOfTurn.ts"

/** The handler of the timer, which runs in the client's mailbox. */
export const retakeHandlers = (directory: Directory["Service"]) => ({
  [retakeTimer]: (turn: Turn) => {
    const client = turn.state.one("clients")
    const partner = client === undefined ? null : partnerOfTurn(turn, directory, client)
    if (client === undefined || partner === null) return
    if (client.state === "CLOSED" || client.state === "KYC_REJECTED") return
    moveAssessment({ turn, instance: instanceOf(client, partner), by: "SYSTEM" }, client, {
      type: "RETAKE_DUE",
      at: turn.now
    })
  }
})
