// The queue in which passwords wait to be hashed: one at a time, logins before everything else, and networks and
// tenants take turns.
import type { Caller } from '../../contracts/caller.ts'
import { AppError } from '../../lib/errors.ts'
import { networksOf } from '../../network/network-of.ts'
import { deriveInPool, type Derive } from '../../passwords/password.ts'

export interface PasswordQueue {
  /**
   * Runs `work` when its turn comes; the next turn begins when it has settled. Throws overloaded when too many wait.
   * Rejects with the signal's reason while it waits; work that has begun runs to its end.
   */
  run<R>(place: Place, work: (derive: Derive) => Promise<R>, signal?: AbortSignal): Promise<R>
}

/** The place where a password waits in the queue. */
export interface Place {
  readonly kind: 'login' | 'other'
  /** The network or the tenant that takes turns with others. */
  readonly of: string
}

/** Counts an IPv6 address as its /48, which one site gets. */
export function placeOfLogin(address: string): Place {
  const [network = address] = networksOf(address, [48])
  return { kind: 'login', of: network }
}

export function placeOfTenant({ tenancy }: Caller): Place {
  if (tenancy.level === 'account') return { kind: 'other', of: tenancy.account_sid }
  const of = tenancy.level === 'service_provider' ? tenancy.service_provider_sid : tenancy.level
  return { kind: 'other', of }
}

// A hash takes some fifty milliseconds of a processor. An office may log in behind one address when it opens; a tenant
// can send a bulk of requests again. A client that waits longer than some ten seconds for a login has gone away, so a
// short queue that refuses is better than a long one.
const maxWaiting = {
  login: { ofOne: 100, inAll: 200 },
  other: { ofOne: 50, inAll: 1000 },
} as const
const retryAfterSeconds = 2

interface Waiting {
  enter(): void
  refuse(): void
}

/** The waiting passwords of one kind, each in the queue of its network or tenant. */
class Lane {
  readonly #queues = new Map<string, Waiting[]>()
  readonly #max: (typeof maxWaiting)[Place['kind']]
  #size = 0

  constructor(max: (typeof maxWaiting)[Place['kind']]) {
    this.#max = max
  }

  /**
   * Returns false if there is no room. In a full lane, the last of the longest queue makes room for one whose queue is
   * short.
   */
  add(of: string, waiting: Waiting): boolean {
    const { ofOne, inAll } = this.#max
    const queue = this.#queues.get(of) ?? []
    if (queue.length >= ofOne) return false
    if (this.#size >= inAll) {
      const [longest, others] = this.#longest()
      const last = others.at(-1)
      if (last === undefined || others.length <= queue.length + 1) return false
      this.remove(longest, last)
      last.refuse()
    }
    queue.push(waiting)
    this.#queues.set(of, queue)
    this.#size++
    return true
  }

  remove(of: string, waiting: Waiting): void {
    const queue = this.#queues.get(of) ?? []
    queue.splice(queue.indexOf(waiting), 1)
    this.#size--
    if (queue.length === 0) this.#queues.delete(of)
  }

  /** Returns the first of the queue that has waited longest, which goes to the end. */
  next(): Waiting | undefined {
    for (const [of, queue] of this.#queues) {
      const [first] = queue
      if (first === undefined) continue
      this.remove(of, first)
      if (this.#queues.delete(of)) this.#queues.set(of, queue)
      return first
    }
    return undefined
  }

  #longest(): [string, Waiting[]] {
    let longest: [string, Waiting[]] = ['', []]
    for (const entry of this.#queues) if (entry[1].length > longest[1].length) longest = entry
    return longest
  }
}

export function createPasswordQueue(derive: Derive = deriveInPool): PasswordQueue {
  const lanes = { login: new Lane(maxWaiting.login), other: new Lane(maxWaiting.other) }
  let isBusy = false

  function wait({ kind, of }: Place, signal: AbortSignal | undefined): Promise<void> {
    const lane = lanes[kind]
    return new Promise((resolve, reject) => {
      const settle = (): void => signal?.removeEventListener('abort', leave)
      const waiting: Waiting = {
        enter() {
          settle()
          resolve()
        },
        refuse() {
          settle()
          reject(
            new AppError('overloaded', 'too many passwords are waiting to be verified', {
              retryAfterSeconds,
            }),
          )
        },
      }
      const leave = (): void => {
        lane.remove(of, waiting)
        reject(signal?.reason as Error)
      }
      if (!lane.add(of, waiting)) return waiting.refuse()
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  return {
    async run(place, work, signal) {
      signal?.throwIfAborted()
      if (isBusy) await wait(place, signal)
      isBusy = true
      try {
        return await work(derive)
      } finally {
        // The turn goes straight to the next one, so that no newcomer comes before it.
        const next = lanes.login.next() ?? lanes.other.next()
        if (next === undefined) isBusy = false
        else next.enter()
      }
    },
  }
}
