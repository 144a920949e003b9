// A REGISTER in progress while its user loses the right to it: tried with the loss before, between and after all its
// steps.
import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import type { SipRequest } from '../message/message.ts'
import type { BindingStore } from './binding-store.ts'
import type { RealmState, SipDirectory, SipUser } from '../auth/directory.ts'
import type { Remote } from '../transport/transports.ts'
import type { Reply } from '../message/reply.ts'
import { createBindings } from './bindings.ts'
import { createRegistrar } from './registrar.ts'
import { silentLogger } from '../../lib/log.ts'

const aor = 'alice@a.example'
const remote: Remote = { transport: 'tcp', address: '198.51.100.7', port: 40_000 }
const register: SipRequest = {
  kind: 'request',
  method: 'REGISTER',
  uri: 'sip:a.example',
  body: new Uint8Array(),
  headers: [
    { name: 'to', value: `<sip:${aor}>` },
    { name: 'call-id', value: 'c' },
    { name: 'cseq', value: '1 REGISTER' },
    { name: 'contact', value: '<sip:alice@10.0.0.5>' },
  ],
}

interface Facts {
  realm: RealmState
  user: SipUser | undefined
}

const alice: SipUser = { username: 'alice', realm: 'a.example', password: 'secret' }

const losses: readonly [string, (facts: Facts) => void, reason: string][] = [
  ['its realm', (facts) => void (facts.realm = 'unknown'), 'Unknown or invalid realm'],
  ['its active account', (facts) => void (facts.realm = 'inactive'), 'Account exists but is inactive'],
  ['its user', (facts) => void (facts.user = undefined), 'Invalid credentials'],
  [
    'its realm to an account with a user of that name',
    (facts) => void (facts.user = { ...alice, password: 'x' }),
    'Invalid credentials',
  ],
]

interface Trial {
  readonly reply: Reply
  readonly isBound: boolean
  /** The number of lookups by the registrar; the right is lost before one of them, or after the last. */
  readonly steps: number
}

/** Runs a REGISTER. The directory changes before step `lostAt`; the bindings are removed before step `removedAt`. */
async function tryOut(
  lose: (facts: Facts) => void,
  { lostAt, removedAt }: { readonly lostAt: number; readonly removedAt: number },
): Promise<Trial> {
  const facts: Facts = { realm: 'active', user: alice }
  const clock = createFakeClock()
  const bindings = createBindings({ clock })
  let steps = 0
  const step = async (): Promise<void> => {
    if (steps === lostAt) lose(facts)
    if (steps === removedAt) await bindings.remove(aor)
    steps++
  }
  const stepped =
    <A extends readonly unknown[], R>(ask: (...asked: A) => Promise<R>) =>
    async (...asked: A): Promise<R> => {
      await step()
      return ask(...asked)
    }
  const directory: SipDirectory = {
    realmState: stepped(async () => facts.realm),
    findUser: stepped(async () => facts.user),
    admitDevice: stepped(async (_device, bind) => bind().then(() => undefined)),
  }
  const store: BindingStore = {
    get: stepped((sought) => bindings.get(sought)),
    find: (sought) => bindings.find(sought),
    put: stepped((binding) => bindings.put(binding)),
    touch: (binding) => bindings.touch(binding),
    remove: stepped((removed, key) => bindings.remove(removed, key)),
    forget: stepped((realm) => bindings.forget(realm)),
    list: stepped((realm) => bindings.list(realm)),
    boundTo: (remote) => bindings.boundTo(remote),
    reachedAt: (place) => bindings.reachedAt(place),
    findReachedAt: (place) => bindings.findReachedAt(place),
  }
  const answer = createRegistrar({
    log: silentLogger,
    authenticate: stepped(async () => ({ verdict: 'accepted', user: alice })),
    bindings: store,
    directory,
    clock,
  })
  const reply = await answer(register, remote)
  const asked = steps
  while (steps <= removedAt) await step()
  const isBound = (await bindings.get(aor)).length > 0
  bindings.close()
  return { reply, isBound, steps: asked }
}

const never = { lostAt: Infinity, removedAt: -1 }

describe('a REGISTER under way', () => {
  it('binds when nothing happens', async () => {
    const { reply, isBound } = await tryOut(() => undefined, never)
    expect([reply.status, isBound]).toEqual([200, true])
  })

  it.each(losses)('leaves no binding when it loses %s, whenever that is', async (_name, lose, reason) => {
    const { steps } = await tryOut(lose, never)
    const answers = new Set<string>()
    for (let lostAt = 0; lostAt <= steps; lostAt++)
      for (let removedAt = lostAt; removedAt <= steps + 2; removedAt++) {
        const { reply, isBound } = await tryOut(lose, { lostAt, removedAt })
        expect(isBound, `lost before step ${lostAt}, removed before step ${removedAt}`).toBe(false)
        answers.add(`${reply.status} ${reply.headers?.find(({ name }) => name === 'x-reason')?.value ?? ''}`)
      }
    expect([...answers].sort()).toEqual(['200 ', `403 ${reason}`])
  })

  it.each([
    ['of the next owner of the realm', { callId: 'of the next', cseq: 1 }],
    ['that has registered again with what is right now', { callId: 'c', cseq: 2 }],
  ])('leaves the binding alone %s', async (_name, dialog) => {
    const clock = createFakeClock()
    const bindings = createBindings({ clock })
    const next = {
      aor,
      key: 'sip:alice@10.0.0.5:;',
      instance: undefined,
      q: undefined,
      contact: 'sip:alice@10.0.0.5',
      expiresAt: clock.now() + 60_000,
      registeredAt: clock.now(),
      remote,
      path: [],
      userAgent: undefined,
      ...dialog,
    }
    const answer = createRegistrar({
      log: silentLogger,
      authenticate: async () => ({ verdict: 'accepted', user: alice }),
      bindings,
      directory: {
        async realmState() {
          await bindings.put(next)
          return 'active'
        },
        findUser: async () => ({ ...alice, password: 'x' }),
      },
      clock,
    })
    expect((await answer(register, remote)).status).toBe(403)
    expect(await bindings.get(aor)).toEqual([next])
    bindings.close()
  })

  it('that a later one of its phone overtakes changes nothing (RFC 3261 §10.3 step 7)', async () => {
    const bindings = createBindings({ clock: createFakeClock() })
    const verdict = Promise.withResolvers<void>()
    const answer = createRegistrar({
      log: silentLogger,
      async authenticate(_request, { address }) {
        if (address === remote.address) await verdict.promise
        return { verdict: 'accepted', user: alice }
      },
      bindings,
      directory: { realmState: async () => 'active', findUser: async () => alice },
      clock: createFakeClock(),
    })
    const headers = register.headers.map((field) =>
      field.name === 'cseq' ? { name: 'cseq', value: '2 REGISTER' } : field,
    )
    const earlier = answer(register, remote)
    const moved = { ...remote, address: '198.51.100.8' }
    expect((await answer({ ...register, headers }, moved)).status).toBe(200)
    verdict.resolve()
    expect((await earlier).status).toBe(500)
    expect(await bindings.get(aor)).toMatchObject([{ cseq: 2, remote: moved }])
    bindings.close()
  })

  it('binds nothing when it cannot be known whether it still may', async () => {
    const clock = createFakeClock()
    const bindings = createBindings({ clock })
    const answer = createRegistrar({
      log: silentLogger,
      authenticate: async () => ({ verdict: 'accepted', user: alice }),
      bindings,
      directory: {
        realmState: () => Promise.reject(new Error('the database is gone')),
        findUser: async () => alice,
      },
      clock,
    })
    await expect(answer(register, remote)).rejects.toThrow('the database is gone')
    expect(await bindings.get(aor)).toEqual([])
    bindings.close()
  })
})
