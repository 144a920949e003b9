import { describe, expect, it } from 'vitest'
import { matchOf, numberOf } from '../../../test/support/scripted-engine/carriers.ts'
import { runVerbs, type RunningCall } from '../../../test/support/scripted-engine/script.ts'
import { account, application, client, phone } from '../../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { heldAnswer } from '../../../test/support/scripted-engine/scripted-hooks.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { parsePlainVerbs } from '../../../test/support/scripted-engine/plain-verbs.ts'
import type { HeaderField } from '../../sip/message/message.ts'
import type { Authentication, SipUser } from '../../sip/sip.ts'

const { application_sid } = application
const alice: SipUser = { username: 'alice', realm: 'example.com', password: 'secret' }
const isJudged = (judged: SipUser['judged'] = {}): SipUser => ({ ...alice, password: undefined, judged })

interface Asked extends Pick<RunningCall, 'engine'> {
  readonly final: { readonly status: number; readonly xReason: string | undefined } | undefined
  readonly decisions: readonly string[]
  readonly isAnswered: boolean
}

async function ring(
  before: (engine: ScriptedEngine) => void,
  to?: string,
  headers: readonly HeaderField[] = [],
): Promise<Asked> {
  const engine = createScriptedEngine(parsePlainVerbs)
  engine.hooks.on('/call', [{ verb: 'answer' }])
  before(engine)
  const invite = engine.ring({ headers, ...(to === undefined ? {} : { to }) })
  await settle()
  const events = engine.store.journalOf(engine.store.batches[0]?.call_sid ?? '')
  const { final } = invite
  return {
    engine,
    isAnswered: invite.dialog !== undefined,
    final: final && {
      status: final.status,
      xReason: final.headers?.find(({ name }) => name === 'x-reason')?.value,
    },
    decisions: events.flatMap((event) =>
      event.type === 'decision'
        ? [`${event.rule}: ${event.outcome}${event.code === undefined ? '' : ` (${event.code})`}`]
        : [],
    ),
  }
}

const as =
  (user: SipUser) =>
  (engine: ScriptedEngine): void => {
    engine.authentication = { verdict: 'accepted', user }
  }

describe('a user who calls', () => {
  it('by its password is in the journal with its realm, its name and its application', async () => {
    const { decisions, isAnswered } = await ring(as(alice))
    expect(isAnswered).toBe(true)
    expect(decisions).toEqual([
      `caller-realm: ${account.account_sid}`,
      'caller-digest: alice@example.com',
      `user-dialled-application: ${application_sid}`,
    ])
  })

  it('by the registration hook needs no client', async () => {
    const { decisions, isAnswered } = await ring((engine) => {
      as(isJudged())(engine)
      engine.client = undefined
    })
    expect(isAnswered).toBe(true)
    expect(decisions).toContain('caller-registration-hook: alice@example.com')
  })

  it('by the registration hook may be sent to an application that it names', async () => {
    const { decisions, isAnswered } = await ring(
      as(isJudged({ destination: application_sid })),
      '500@example.com',
    )
    expect(isAnswered).toBe(true)
    expect(decisions).toContain(`user-hook-application: ${application_sid}`)
  })

  it.each<[string, (engine: ScriptedEngine) => void]>([
    ['removed', (engine) => (engine.client = undefined)],
    ['switched off', (engine) => (engine.client = { ...client, is_active: false })],
  ])('and was %s since its password was checked is refused as one with a wrong one', async (_, before) => {
    const { final, engine } = await ring(before)
    expect(final).toEqual({ status: 403, xReason: 'Invalid credentials' })
    expect(engine.store.records).toMatchObject([{ sip_status: 403, application_sid: null }])
  })

  it('of a realm that has gone meanwhile is refused, and nothing is kept', async () => {
    const { final, engine } = await ring((scripted) => (scripted.account = undefined))
    expect(final).toEqual({ status: 404, xReason: 'Unknown or invalid realm' })
    expect(engine.store.batches).toEqual([])
  })

  it('with a wrong password for a realm that is not ours gets the response of the stack', async () => {
    const { final, engine } = await ring((scripted) => {
      scripted.account = undefined
      const reply = { status: 403, headers: [{ name: 'x-reason', value: 'Invalid credentials' }] }
      scripted.authentication = { verdict: 'refused', code: 'wrong_credentials', reply, isWorthRecord: true }
    })
    expect(final).toEqual({ status: 403, xReason: 'Invalid credentials' })
    expect(engine.store.batches).toEqual([])
  })
})

describe('what a user dials', () => {
  const mayNotDial = (engine: ScriptedEngine): void => {
    engine.client = { ...client, allow_direct_app_calling: false }
  }
  const forDevices = (engine: ScriptedEngine): void => {
    engine.account = { ...account, device_calling_application_sid: application_sid }
  }

  it('goes to the application of the account for its devices', async () => {
    const { decisions, isAnswered } = await ring(forDevices, '500@example.com')
    expect(isAnswered).toBe(true)
    expect(decisions.at(-1)).toBe(`user-device-application: ${application_sid}`)
  })

  it.each([
    ['a registered user', 'alice@example.com', 'user-dialled-user: alice@example.com'],
    ['a queue', 'queue-sales@example.com', 'user-dialled-queue: sales'],
    ['a conference', 'conference-team@example.com', 'user-dialled-conference: team'],
  ])('being %s is reached, whatever application the account has for its devices', async (_, to, decision) => {
    const { decisions } = await ring((engine) => {
      forDevices(engine)
      engine.phones.set('alice@example.com', [phone])
    }, to)
    expect(decisions).toContain(decision)
  })

  it('being a user who is not registered goes to the application of the account for its devices', async () => {
    const { decisions } = await ring(forDevices, 'alice@example.com')
    expect(decisions.at(-1)).toBe(`user-device-application: ${application_sid}`)
  })

  it('goes to the application that its INVITE names, which is no loop', async () => {
    const named = [{ name: 'x-application-sid', value: application_sid }]
    const { decisions, isAnswered } = await ring(() => undefined, '500@example.com', named)
    expect(isAnswered).toBe(true)
    expect(decisions.at(-1)).toBe(`user-named-application: ${application_sid}`)
    const odd = await ring(() => undefined, '500@example.com', [
      { name: 'x-application-sid', value: 'sales' },
    ])
    expect(odd.final).toEqual({
      status: 480,
      xReason: 'the header X-Application-Sid names no application of the account',
    })
  })

  it.each<[string, string, (engine: ScriptedEngine) => void, string, string]>([
    [
      'an application that the account has not',
      'app-d0000000-0000-4000-8000-00000000ffff@example.com',
      () => undefined,
      'the account has no such application',
      'user-dialled-application: no such application',
    ],
    [
      'what is no sid of an application',
      'app-sales@example.com',
      () => undefined,
      'app-sales names no application of the account',
      'user-dialled-application: refused (no_application)',
    ],
    [
      'a number, where the account has no application for it',
      '500@example.com',
      () => undefined,
      'no configured application',
      'user-no-application: refused (no_application)',
    ],
    [
      'a user whom the realm does not have',
      'carol@example.com',
      () => undefined,
      'no user carol in this realm, and no configured application',
      'user-no-application: refused (no_application)',
    ],
    [
      'a user of the realm without a phone',
      'alice@example.com',
      () => undefined,
      'alice is not registered',
      'user-not-registered: refused (user_unavailable)',
    ],
    [
      'an application, which its client does not allow',
      `app-${application_sid}@example.com`,
      mayNotDial,
      'direct application calling is not allowed for this client',
      'user-may-not-dial-applications: refused (direct_app_calling_off)',
    ],
  ])('being %s is refused, by a rule in the journal', async (_, to, before, xReason, decision) => {
    const { final, decisions, engine } = await ring(before, to)
    expect(final).toMatchObject({ xReason })
    expect(decisions.at(-1)).toBe(decision)
    expect(engine.hooks.asked).toEqual([])
    expect(engine.store.records).toMatchObject([{ answered: false, application_sid: null }])
  })
})

describe('a carrier that calls', () => {
  const mine = { account_sid: account.account_sid, service_provider_sid: account.service_provider_sid }
  const called = '15551230100'

  it('a number without an application is refused, and the journal says where to set one', async () => {
    const { final, engine, decisions } = await ring((scripted) => {
      scripted.carriers = [matchOf('c', mine)]
      scripted.numbers = [numberOf(called, 'c', { account_sid: account.account_sid, application_sid: null })]
    }, `${called}@192.0.2.1`)
    expect(final).toEqual({ status: 480, xReason: 'no configured application' })
    expect(decisions.at(-1)).toBe('carrier-no-application: refused (no_application)')
    const [record] = engine.store.records
    expect(engine.store.journalOf(record?.call_sid ?? '')).toContainEqual(
      expect.objectContaining({
        type: 'refusal',
        code: 'no_application',
        cure: 'Set application_sid on the phone number, or on the carrier.',
      }),
    )
    expect(record).toMatchObject({ trunk: 'carrier c', sip_status: 480 })
  })

  it('a number that no one has assigned leaves its owner a record with 404 that names the number', async () => {
    const { final, engine, decisions } = await ring((scripted) => {
      scripted.carriers = [matchOf('c', mine)]
    }, `${called}@192.0.2.1`)
    expect(final).toMatchObject({ status: 404 })
    expect(decisions.at(-1)).toBe('carrier-number-unknown: refused (number_not_provisioned)')
    const [record] = engine.store.records
    expect(record).toMatchObject({ trunk: 'carrier c', sip_status: 404, account_sid: account.account_sid })
    expect(engine.store.journalOf(record?.call_sid ?? '')).toContainEqual(
      expect.objectContaining({
        type: 'refusal',
        code: 'number_not_provisioned',
        sentence: expect.stringContaining(called),
      }),
    )
  })

  it('an account that is switched off is refused, and the record names the carrier', async () => {
    const { final, engine } = await ring((scripted) => {
      scripted.account = { ...account, is_active: false }
      scripted.carriers = [matchOf('c', mine)]
      scripted.numbers = [numberOf(called, 'c', { account_sid: account.account_sid })]
    }, `${called}@192.0.2.1`)
    expect(final).toEqual({ status: 503, xReason: 'Account exists but is inactive' })
    expect(engine.store.records).toMatchObject([{ trunk: 'carrier c', sip_status: 503 }])
  })

  it('with the realm of another account names a user where From has the realm too', async () => {
    const { decisions } = await ring((scripted) => {
      scripted.carriers = [matchOf('other', { account_sid: 'another', service_provider_sid: 'elsewhere' })]
    })
    expect(decisions).toContain('caller-digest: alice@example.com')
  })
})

describe('a call that came in', () => {
  it('is seen by the API as its INVITE described it', async () => {
    const { engine, call_sid } = await runVerbs([], {
      before: ({ hooks }) => hooks.answers.set('/call', heldAnswer().answer),
      options: { apiBaseUrl: () => 'http://api.test/v1' },
    })
    expect(engine.calls.find(account.account_sid, call_sid)).toEqual({
      account_sid: account.account_sid,
      service_provider_sid: account.service_provider_sid,
      application_sid,
      call_id: 'call-1@test',
      call_sid,
      call_status: 'trying',
      direction: 'inbound',
      from: '+4420',
      to: `app-${application_sid}`,
      caller_name: 'Alice Liddell',
      service_url: 'http://api.test/v1',
      sip_status: 100,
      sip_reason: 'Trying',
      originating_sip_ip: '127.0.0.1',
      trace_id: call_sid.replaceAll('-', ''),
      local_sip_address: '127.0.0.1:5060',
      fs_sip_address: '127.0.0.1:5060',
      sbc_callid: 'call-1@test',
    })
    await engine.calls.hangUpAll('the end')
    expect(engine.store.records).toMatchObject([
      { remote_host: '127.0.0.1', host: '127.0.0.1', trunk: 'user', trace_id: call_sid.replaceAll('-', '') },
    ])
  })

  it('has the INVITE in its call hook, and what the platform vouches for', async () => {
    const { engine, call_sid } = await runVerbs([])
    const [payload] = engine.hooks.payloadsOf('/call')
    expect(payload).toMatchObject({
      call_sid,
      call_id: 'call-1@test',
      service_provider_sid: account.service_provider_sid,
      sip: {
        method: 'INVITE',
        headers: {
          'call-id': 'call-1@test',
          'X-Authenticated-User': 'alice@example.com',
          'X-Account-Sid': account.account_sid,
          'X-Application-Sid': application_sid,
        },
      },
    })
  })

  it('without a base of the API names our SIP address for it', async () => {
    const { engine, call_sid } = await runVerbs([])
    expect(engine.calls.find(account.account_sid, call_sid)?.service_url).toBe('sip:127.0.0.1:5060')
  })
})

describe('a caller who gives up while it is being identified', () => {
  it.each([
    ['leaves the record of an abandoned call where it is known', true, 1],
    ['leaves nothing where it is not', false, 0],
  ])('%s', async (_, isKnown, records) => {
    const engine = createScriptedEngine(parsePlainVerbs)
    const { authentication } = engine
    const answered = Promise.withResolvers<Authentication>()
    // The stack waits for the promise, as it waits for a password to be looked up.
    engine.authentication = answered.promise as never
    const invite = engine.ring()
    await settle()
    invite.cancel([{ name: 'reason', value: 'SIP;cause=200' }])
    answered.resolve(isKnown ? authentication : { verdict: 'challenge', reply: { status: 401 } })
    await settle()
    expect(engine.store.records).toHaveLength(records)
    for (const record of engine.store.records)
      expect(record).toMatchObject({ sip_status: 487, termination_reason: 'caller abandoned' })
    expect(engine.hooks.asked).toEqual([])
    expect(engine.store.notifications).toEqual([])
    expect(engine.calls.liveCount).toBe(0)
    expect(engine.clock.pending).toBe(0)
  })
})
