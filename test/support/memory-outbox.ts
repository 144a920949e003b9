// The outbox in memory, for tests.
import { destinationOf } from '../../src/lib/destination.ts'
import type { Hook } from '../../src/contracts/hook.ts'
import type { OutboxExceptions, OutboxItem, OutboxStore, Settlement } from '../../src/contracts/outbox.ts'

interface Row {
  item: OutboxItem
  dueAt: number
}

/** `test/contracts/outbox.test.ts` runs the same cases over it and over the durable one. */
export class MemoryOutbox implements OutboxStore {
  readonly rows: Row[] = []
  readonly log: Settlement[] = []
  claims = 0
  brokenSettles = 0
  readonly #sequences = new Map<string, number>()
  readonly #now: () => number
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = []
  #listener = (): void => {}

  constructor(now: () => number) {
    this.#now = now
  }

  add(
    url: string,
    call: string,
    { account = 'a1', hook = {} }: { account?: string; hook?: Partial<Hook> } = {},
  ): void {
    const sequence = (this.#sequences.get(call) ?? 0) + 1
    this.#sequences.set(call, sequence)
    const item: OutboxItem = {
      id: this.rows.length + this.log.length + 1,
      account_sid: account,
      call_sid: call,
      sequence,
      hook: { url, method: 'POST', username: null, password: null, ...hook },
      destination: destinationOf(url),
      payload: JSON.stringify({ call_sid: call, n: sequence }),
      attempts: 0,
      created_at: this.#now(),
    }
    this.rows.push({ item, dueAt: this.#now() })
    this.#listener()
  }

  async claim(
    limit: number,
    leaseMs: number,
    { accounts, lanes }: OutboxExceptions = { accounts: [], lanes: [] },
  ): Promise<OutboxItem[]> {
    this.claims++
    const isLeft = ({ account_sid, destination }: OutboxItem): boolean =>
      accounts.includes(account_sid) ||
      lanes.some((lane) => lane.account_sid === account_sid && lane.destination === destination)
    const due = this.#heads().filter(({ dueAt, item }) => dueAt <= this.#now() && !isLeft(item))
    const taken = due.slice(0, limit)
    for (const row of taken) row.dueAt = this.#now() + leaseMs
    return taken.map(({ item }) => item)
  }

  async settle(outcomes: readonly Settlement[]): Promise<void> {
    if (this.brokenSettles > 0) {
      this.brokenSettles--
      throw new Error('disk full')
    }
    for (const outcome of outcomes) {
      const index = this.rows.findIndex(({ item }) => item.id === outcome.id)
      const row = this.rows[index]
      if (row === undefined) continue
      if (outcome.outcome === 'retry' || outcome.outcome === 'put-back') {
        const tried = outcome.outcome === 'retry' ? 1 : 0
        row.item = { ...row.item, attempts: row.item.attempts + tried }
        row.dueAt = outcome.at
      } else this.rows.splice(index, 1)
      this.log.push(outcome)
    }
    for (const one of this.#waiting) if (this.log.length >= one.count) one.resolve()
  }

  onEnqueued(listener: () => void): void {
    this.#listener = listener
  }

  async nextDueAt(): Promise<number | undefined> {
    return this.rows.length === 0 ? undefined : Math.min(...this.#heads().map(({ dueAt }) => dueAt))
  }

  /** Returns the first item of each call and URL: a later one is not due until that is settled. */
  #heads(): Row[] {
    return this.rows.filter(
      ({ item: { call_sid, hook } }, index) =>
        this.rows.findIndex(({ item }) => item.call_sid === call_sid && item.hook.url === hook.url) === index,
    )
  }

  settled(count: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.log.length >= count) resolve()
      else this.#waiting.push({ count, resolve })
    })
  }
}
