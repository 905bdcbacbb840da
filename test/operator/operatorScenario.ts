/** A scenario whose service the command line can also drive: the first line of an operator's test file. */
import { afterAll, assert } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { Agent } from "node:https"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import { type Answer, type CallOptions, callServer } from "../http/callServer.ts"
import { onboard, passesDone } from "../support/Builders.ts"
import { openOn, type OpenOptions, openService, type ScenarioOptions } from "../support/Scenario.ts"
import { type OperatorService, startOperatorService } from "./operatorHarness.ts"

/** Opens a service with the operator surface and one partner; see `openScenario`. */
export const openOperatorScenario = async (options: ScenarioOptions = {}) => {
  const opened = await openOn(startOperatorService, options)
  return { ...opened, heldClient: heldClients(opened.service, opened.key) }
}

/** Opens a service with the operator surface and no partner yet; see `openService`. */
export const openOperator = (options: OpenOptions = {}) => openService(startOperatorService, options)

/**
 * Plain requests to the operator surface, for requests that the command line does not send; without a key, with the
 * ADMIN's.
 */
export const operatorCalls = (service: OperatorService) => {
  const agent = new Agent({ ca: readFileSync(service.caFile), keepAlive: true })
  afterAll(() => agent.destroy())
  const port = Number(new URL(service.url).port)
  return (method: string, path: string, options: CallOptions = {}): Promise<Answer> =>
    callServer(agent, port, method, `/operator/v1${path}`, { key: service.keys.ADMIN, ...options })
}

/** Adds the name of a new person to a watch list and onboards that person, who is then held. */
const heldClients = (service: OperatorService, key: string) => {
  let held = 0
  return async (list: "SANCTIONS" | "PEP" = "SANCTIONS") => {
    // Outside the range of the scenario's other persons, so that no other person has the name.
    const body = sampleOnboarding(700 + ++held, "held", Date.now())
    const { first_name, last_name, date_of_birth: born } = body.kyc.personalInfo
    const name = `${first_name} ${last_name}`
    const { entryId } = await service.done(
      ["screening", "add", "--name", name, "--dob", born, "--list", list],
      "COMPLIANCE"
    )
    await passesDone(service)
    const { status, text, json } = await onboard(service, key, body)
    assert.deepStrictEqual([status, json.data?.status], [201, "PENDING_REVIEW"], text)
    return {
      body,
      name,
      born,
      entryId: entryId as number,
      clientId: json.data.clientId as number,
      caseId: json.data.review.caseId as number
    }
  }
}
