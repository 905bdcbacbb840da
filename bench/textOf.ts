/** One call of the service that must succeed, with the answer as text. */
import { type Agent, request } from "node:https"
import type { RunningService } from "./service.ts"

export interface TextCall {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly key: string
  readonly body?: object | undefined
}

/** The answer's body; throws on any status but 200. */
export const textOf = (service: RunningService, agent: Agent, { method, path, key, body }: TextCall): Promise<string> =>
  new Promise((resolve, reject) => {
    const type = body === undefined ? {} : { "content-type": "application/json" }
    const headers = { authorization: `Bearer ${key}`, ...type }
    const sent = request(`${service.url}${path}`, { method, agent, headers }, (answer) => {
      let text = ""
      answer.setEncoding("utf8")
      answer.on("data", (piece: string) => void (text += piece))
      answer.once("error", reject)
      answer.once("end", () =>
        answer.statusCode === 200 ? resolve(text) : reject(new Error(`${path}: ${answer.statusCode} ${text}`))
      )
    })
    sent.once("error", reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
