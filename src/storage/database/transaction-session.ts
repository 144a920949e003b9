// The session of one transaction: it ends with the transaction, and the first failed statement is its last one.
// PostgreSQL has this rule by itself. The embedded database gets it here, so that no code relies on its absence.
import type { Clock } from '../../lib/clock.ts'
import type { Cells, Parameter, Session } from './database.ts'

// A transaction must await only its own statements. One that awaits anything else would block all writers; it ends.
const maxTransactionMs = 30_000

/** Resolves with the result of `work` if every statement succeeded. The caller commits or rolls back. */
export async function runInSession<R>(
  work: (session: Session) => Promise<R>,
  run: (sql: string, parameters: readonly Parameter[]) => Promise<Cells[]>,
  clock: Clock,
): Promise<R> {
  let hasEnded = false
  let failure: { readonly error: unknown } | undefined
  async function runNext(sql: string, parameters: readonly Parameter[]): Promise<Cells[]> {
    if (hasEnded) throw new Error('a repository was used after its transaction had ended')
    if (failure !== undefined) throw failure.error
    try {
      return await run(sql, parameters)
    } catch (error) {
      failure = { error }
      throw error
    }
  }
  // A connection carries one statement at a time. Of several begun together, those behind a failed one never run.
  let last: Promise<unknown> = Promise.resolve()
  const session: Session = {
    all(sql, parameters) {
      const answer = last.then(() => runNext(sql, parameters))
      last = answer.catch(() => undefined)
      return answer
    },
  }
  const deadline = Promise.withResolvers<never>()
  const timer = clock.after(maxTransactionMs, () =>
    deadline.reject(new Error('a transaction waited for something other than its statements')),
  )
  try {
    const result = await Promise.race([work(session), deadline.promise])
    // `work` caught the failure and continued: the statements before it must not be committed alone.
    if (failure !== undefined) throw (failure as { readonly error: unknown }).error
    return result
  } finally {
    hasEnded = true
    timer.cancel()
  }
}
