// The contract between the call engine and the directory, run over scripted and over stored rows.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AccountFacts, ApplicationFacts, ClientFacts, Directory } from '../../src/calls/ports.ts'
import type { Hook } from '../../src/contracts/hook.ts'
import { createDirectory } from '../../src/directory/create-directory.ts'
import { systemTenancy } from '../../src/contracts/caller.ts'
import { createSid } from '../../src/lib/ids.ts'
import { makeAccount, onEachStore } from '../support/each-store.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { account, application, client } from '../support/scripted-engine/scripted-facts.ts'
import { createScriptedDirectory } from '../support/scripted-engine/scripted-directory.ts'

/** A directory of one account with a client, an application and a number. */
interface Place {
  readonly directory: Directory
  readonly account: AccountFacts
  readonly client: ClientFacts
  readonly application: ApplicationFacts
  close(): Promise<void>
}

const number = '4930100200'
const queueEventHook: Hook = {
  url: 'http://app.test/queue-event',
  method: 'POST',
  username: 'u',
  password: 'p',
}

describe('scripted', () => {
  behavesAsDirectory(async () => {
    const { account_sid } = account
    const directory = createScriptedDirectory(() => ({
      account,
      client,
      application,
      limits: {},
      queueEventHook,
      carriers: [],
      peer: undefined,
      numbers: [{ number, voip_carrier_sid: null, account_sid, application_sid: null }],
      patterns: [],
      waysOut: [],
      dialPlan: undefined,
    }))
    return { directory, account, client, application, close: () => Promise.resolve() }
  })
})

onEachStore(({ open }) => {
  behavesAsDirectory(async () => {
    const test = await open()
    const { account_sid, service_provider_sid } = await makeAccount(test.storage)
    const rows = test.storage.for(systemTenancy)
    const owner = { account_sid, service_provider_sid: null }
    const hooks = await Promise.all(
      [application.call_hook, application.call_status_hook].map((hook) =>
        rows.webhooks.insert({ ...owner, ...hook, url: String(hook?.url) }),
      ),
    )
    const [call_hook_sid, call_status_hook_sid] = hooks.map(({ webhook_sid }) => webhook_sid)
    const {
      env_vars,
      record_all_calls,
      call_hook,
      call_status_hook,
      application_sid: _,
      ...columns
    } = application
    const app = await rows.applications.insert({
      ...columns,
      name: 'app',
      account_sid,
      call_hook_sid: call_hook_sid ?? null,
      call_status_hook_sid: call_status_hook_sid ?? null,
      env_vars: JSON.stringify(env_vars),
      record_all_calls: record_all_calls ? 1 : 0,
    })
    const user = await rows.clients.insert({
      account_sid,
      username: client.username,
      password: 'secret',
      allow_direct_app_calling: 1,
      allow_direct_queue_calling: 1,
      allow_direct_user_calling: 1,
    })
    const { webhook_sid } = await rows.webhooks.insert({ ...owner, ...queueEventHook })
    await rows.accounts.update(account_sid, { queue_event_hook_sid: webhook_sid })
    await rows.phone_numbers.insert({ ...owner, number, received_number: number, voip_carrier_sid: null })
    const realm = (await rows.accounts.find(account_sid))?.sip_realm ?? ''
    return {
      // Its clock stands still, so no cache entry expires.
      directory: createDirectory({ storage: test.storage, clock: createFakeClock() }),
      account: { ...account, account_sid, service_provider_sid, sip_realm: realm },
      client: { ...client, client_sid: user.client_sid },
      application: {
        ...columns,
        record_all_calls,
        account_sid,
        application_sid: app.application_sid,
        call_hook,
        call_status_hook,
        env_vars,
      },
      close: () => test.close(),
    }
  })
})

function behavesAsDirectory(open: () => Promise<Place>): void {
  const other = createSid()
  let place: Place
  let directory: Directory

  beforeAll(async () => {
    place = await open()
    directory = place.directory
  })
  afterAll(() => place.close())

  it('the directory finds an account by its realm in any letter case, and by its sid', async () => {
    const { sip_realm, account_sid } = place.account
    expect(await directory.accountByRealm(String(sip_realm))).toEqual(place.account)
    expect(await directory.accountByRealm(String(sip_realm).toUpperCase())).toEqual(place.account)
    expect(await directory.account(account_sid)).toEqual(place.account)
  })

  it('the directory finds no account for another realm or sid', async () => {
    expect(await directory.accountByRealm('other.example.com')).toBeUndefined()
    expect(await directory.account(other)).toBeUndefined()
  })

  it('the directory finds a client by its name within its account only', async () => {
    const { account_sid } = place.account
    expect(await directory.client(account_sid, place.client.username)).toEqual(place.client)
    expect(await directory.client(account_sid, 'bob')).toBeUndefined()
    expect(await directory.client(other, place.client.username)).toBeUndefined()
  })

  it('the directory finds an application with its hooks within its account only', async () => {
    const { account_sid, application_sid } = place.application
    expect(await directory.application(account_sid, application_sid)).toEqual(place.application)
    expect(await directory.application(other, application_sid)).toBeUndefined()
    expect(await directory.application(account_sid, other)).toBeUndefined()
  })

  it('the directory finds the queue event hook of an account', async () => {
    expect(await directory.queueEventHook(place.account.account_sid)).toEqual(queueEventHook)
  })

  it('the directory finds a number as it is called, and no other', async () => {
    expect(await directory.numbersCalled(number)).toEqual([
      { number, voip_carrier_sid: null, account_sid: place.account.account_sid, application_sid: null },
    ])
    expect(await directory.numbersCalled('4930100201')).toEqual([])
  })

  it('the directory returns empty lists and undefined where nothing is set', async () => {
    expect(await directory.callLimits(place.account)).toEqual({})
    expect(await directory.carriersAt('198.51.100.7')).toEqual([])
    expect(await directory.carrier(other)).toBeUndefined()
    expect(await directory.patternsOf(other)).toEqual([])
    expect(await directory.soleAccountOf(other)).toBeUndefined()
    expect(await directory.outboundCarriers(place.account)).toEqual([])
    expect(await directory.dialPlan(place.account)).toBeUndefined()
    expect(await directory.registrationHook(String(place.account.sip_realm))).toBeUndefined()
  })
}
