/** Requests to the servers of the test run (globalSetup.ts). */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"

/** The environment variable with the path of the socket of the run; not set outside a test run. */
export const testServerVariable = "BROKERAGE_TEST_SERVER"

interface Answers {
  /** `adminUrl` is a superuser's connection string of the run's server; `template` is its migrated database. */
  readonly server: { readonly adminUrl: string; readonly template: string }
  /** The folder of a stopped cluster with a migrated database. */
  readonly cluster: { readonly cluster: string }
}

const requestOf = <Name extends keyof Answers>(socket: string, name: Name): Promise<Answers[Name]> =>
  new Promise((resolve, reject) => {
    let text = ""
    const connection = connect(socket)
    connection.setEncoding("utf8")
    connection.on("data", (chunk: string) => void (text += chunk))
    connection.once("error", reject)
    connection.once("end", () => {
      const answer = JSON.parse(text) as Answers[Name] & { readonly error?: string }
      if (answer.error === undefined) resolve(answer)
      else reject(new Error(answer.error))
    })
    connection.end(name)
  })

/** The run's server; the first call starts it. */
export const testServer = (): Promise<Answers["server"]> => requestOf(process.env[testServerVariable] ?? "", "server")

/**
 * Puts a migrated cluster into a data directory without one, so that the first start of its PostgreSQL needs neither
 * initdb nor migrations. No effect outside a test run.
 */
export const copyCluster = async (dataDir: string): Promise<void> => {
  const socket = process.env[testServerVariable]
  if (socket === undefined || existsSync(join(dataDir, "postgres"))) return
  const { cluster } = await requestOf(socket, "cluster")
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  execFileSync("cp", ["-a", cluster, join(dataDir, "postgres")])
}
