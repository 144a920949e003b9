// A phone that registers while its account, realm or user is removed is not registered afterwards.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../support/api.ts'
import type { ApiAnswer } from '../support/api-request.ts'
import type { Bindings } from '../../src/api/services.ts'
import { createDirectory } from '../../src/directory/create-directory.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { SipRequest } from '../../src/sip/message/message.ts'
import { createBindings } from '../../src/sip/registrar/bindings.ts'
import { createRegistrar } from '../../src/sip/registrar/registrar.ts'
import type { Remote, Reply } from '../../src/sip/sip.ts'
import { silentLogger } from '../../src/lib/log.ts'

const bindings = createBindings({ clock: systemClock })
const remote: Remote = { transport: 'tcp', address: '192.0.2.1', port: 5060 }

let api: TestApi
beforeAll(async () => {
  const seen: Bindings = {
    get: (aor) => bindings.get(aor),
    list: (realm) => bindings.list(realm),
    remove: (aor) => bindings.remove(aor),
    async forget(realm) {
      await bindings.forget(realm)
      await whileForgetting()
    },
  }
  api = await openTestApi({ bindings: seen })
})
afterAll(async () => {
  bindings.close()
  await api.close()
})

/** The action to run when the REGISTER has been authenticated and is about to be bound. */
let meanwhile: () => Promise<void> = () => Promise.resolve()
/** The action to run when the phones of a realm have been removed. */
let whileForgetting: () => Promise<void> = () => Promise.resolve()
afterEach(() => {
  meanwhile = () => Promise.resolve()
  whileForgetting = () => Promise.resolve()
})

function toRegister(realm: string): SipRequest {
  const headers = {
    to: `<sip:desk@${realm}>`,
    'call-id': realm,
    cseq: '1 REGISTER',
    contact: '<sip:desk@192.0.2.1>',
  }
  return {
    kind: 'request',
    method: 'REGISTER',
    uri: `sip:${realm}`,
    headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
    body: new Uint8Array(),
  }
}

async function register(realm: string): Promise<Reply> {
  const directory = createDirectory({ storage: api.storage, clock: systemClock })
  const user = await directory.findUser(realm, 'desk')
  expect(await directory.realmState(realm)).toBe('active')
  expect(user).toBeDefined()
  const answer = createRegistrar({
    log: silentLogger,
    authenticate: async () => ({ verdict: 'accepted', user: user! }),
    bindings: {
      get: (aor) => bindings.get(aor),
      find: (aor) => bindings.find(aor),
      list: (name) => bindings.list(name),
      boundTo: (flow) => bindings.boundTo(flow),
      reachedAt: (place) => bindings.reachedAt(place),
      findReachedAt: (place) => bindings.findReachedAt(place),
      touch: (binding) => bindings.touch(binding),
      remove: (aor, key) => bindings.remove(aor, key),
      forget: (name) => bindings.forget(name),
      async put(binding) {
        await meanwhile()
        await bindings.put(binding)
      },
    },
    directory,
    clock: systemClock,
  })
  return answer(toRegister(realm), remote)
}

interface Phone {
  readonly account_sid: string
  readonly client_sid: string
  readonly realm: string
}

let made = 0
const nextRealm = (): string => `meanwhile${++made}.example.com`

async function createPhone(): Promise<Phone> {
  const realm = nextRealm()
  const { service_provider_sid } = api.own
  const sidOf = ({ status, body }: ApiAnswer): string => {
    expect(status).toBe(201)
    return (body as { readonly sid: string }).sid
  }
  const account = { name: realm, service_provider_sid, sip_realm: realm }
  const account_sid = sidOf(await api.post('/Accounts', api.adminKey, account))
  const client = { account_sid, username: 'desk', password: 'secret of the desk' }
  return { account_sid, realm, client_sid: sidOf(await api.post('/Clients', api.adminKey, client)) }
}

describe('a phone that registers', () => {
  it('a phone that registers is registered when nothing happens meanwhile', async () => {
    const { realm } = await createPhone()
    expect((await register(realm)).status).toBe(200)
    expect(await bindings.list(realm)).toHaveLength(1)
  })

  it.each<[string, (phone: Phone) => Promise<ApiAnswer>]>([
    ['its account is removed', ({ account_sid }) => api.delete(`/Accounts/${account_sid}`, api.adminKey)],
    [
      'its account is switched off',
      ({ account_sid }) => api.put(`/Accounts/${account_sid}`, api.adminKey, { is_active: 0 }),
    ],
    [
      'its account is given another realm',
      ({ account_sid }) => api.put(`/Accounts/${account_sid}`, api.adminKey, { sip_realm: nextRealm() }),
    ],
    [
      'its account takes another realm',
      ({ account_sid }) => api.post(`/Accounts/${account_sid}/SipRealms/${nextRealm()}`, api.adminKey),
    ],
    ['its client is removed', ({ client_sid }) => api.delete(`/Clients/${client_sid}`, api.adminKey)],
    [
      'its client is switched off',
      ({ client_sid }) => api.put(`/Clients/${client_sid}`, api.adminKey, { is_active: 0 }),
    ],
  ])('a phone is refused, and not registered, when meanwhile %s', async (_name, take) => {
    const phone = await createPhone()
    meanwhile = async () => expect((await take(phone)).status).toBe(204)
    expect((await register(phone.realm)).status).toBe(403)
    expect(await bindings.list(phone.realm)).toEqual([])
  })

  it('a phone that is bound while its realm’s phones are removed is refused, with Idempotency-Key too', async () => {
    const { account_sid, realm } = await createPhone()
    const forgetting = Promise.withResolvers<void>()
    const bound = Promise.withResolvers<void>()
    whileForgetting = () => {
      forgetting.resolve()
      return bound.promise
    }
    let moved: Promise<ApiAnswer> | undefined
    meanwhile = () => {
      const headers = { 'idempotency-key': realm }
      const path = `/Accounts/${account_sid}/SipRealms/${nextRealm()}`
      moved = api.request('POST', path, api.adminKey, { headers })
      return forgetting.promise
    }
    const reply = await register(realm)
    bound.resolve()
    expect((await moved)?.status).toBe(204)
    expect(reply.status).toBe(403)
    expect(await bindings.list(realm)).toEqual([])
  })
})
