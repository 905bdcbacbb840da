/** One transaction on a connection of a pool. Any failure rolls it back. */
import type { ClientBase, Pool } from "pg"

export const transact = async <A>(pool: Pool, work: (sql: ClientBase) => Promise<A>): Promise<A> => {
  const connection = await pool.connect()
  try {
    await connection.query("BEGIN")
    const made = await work(connection)
    await connection.query("COMMIT")
    return made
  } catch (error) {
    await connection.query("ROLLBACK")
    throw error
  } finally {
    connection.release()
  }
}
