// 3xx responses of called parties: the places where they lead, and those where they may not.
import { describe, expect, it } from 'vitest'
import { AppError } from '../../lib/errors.ts'
import {
  account,
  callRequest,
  client,
  outboundCarrier,
  phone,
} from '../../../test/support/scripted-engine/scripted-facts.ts'
import { calm, settle } from '../../../test/support/scripted-engine/turns.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { placeOn } from '../../../test/support/scripted-engine/place-on.ts'
import { parsePlainVerbs } from '../../../test/support/scripted-engine/plain-verbs.ts'
import type { Target } from '../verb/target.ts'

const contacts = (...values: string[]) => values.map((value) => ({ name: 'contact', value }))

async function calling(to: Target, prepare?: (engine: ScriptedEngine) => void) {
  const engine = createScriptedEngine(parsePlainVerbs)
  engine.hooks.on('/call', [{ verb: 'wait', ms: 60_000 }])
  engine.client = client
  engine.phones.set('alice@example.com', [phone])
  prepare?.(engine)
  const { call_sid } = await placeOn(engine, { ...callRequest, to })
  await calm()
  const sent = (n: number) => {
    const invite = engine.sent[n]
    if (invite === undefined) throw new Error(`there is no INVITE number ${n}`)
    return invite
  }
  return {
    engine,
    sent,
    refuse: async (n: number, status: number, ...values: string[]) => {
      sent(n).refuse(status, contacts(...values))
      await calm()
    },
    decisions: () =>
      engine.store
        .journalOf(call_sid)
        .flatMap((event) => (event.type === 'decision' && event.rule === 'redirect' ? [event] : [])),
  }
}

const sip: Target = { type: 'sip', sipUri: 'sip:bob@192.0.2.9', auth: { username: 'u', password: 'p' } }
const user: Target = { type: 'user', name: 'alice', realm: 'example.com' }

describe('a SIP URI that redirects', () => {
  it('is followed to the best of its Contacts: From, To and Call-ID stay, the password does not go along', async () => {
    const { engine, sent, refuse, decisions } = await calling(sip)
    await refuse(0, 302, '<sip:low@192.0.2.30>;q=0.2, <sip:high@192.0.2.31>;q=0.8')
    expect(engine.sent).toHaveLength(2)
    const [before, after] = [sent(0).options, sent(1).options]
    expect(after.uri).toBe('sip:high@192.0.2.31')
    expect([after.from, after.to, after.callId]).toEqual([before.from, before.to, before.callId])
    expect([before.credentials, after.credentials]).toEqual([{ username: 'u', password: 'p' }, undefined])
    expect(after.destination).toMatchObject({ address: '192.0.2.31' })
    expect(decisions()).toMatchObject([{ outcome: '302 from sip:bob@192.0.2.9: sip:high@192.0.2.31' }])
    sent(1).answer()
    await calm()
    expect(engine.calls.liveCount).toBe(1)
  })

  it('is followed to the next Contact when the first one fails, and not when it is busy', async () => {
    for (const [status, count] of [
      [480, 3],
      [486, 2],
    ] as const) {
      const { engine, refuse } = await calling(sip)
      await refuse(0, 300, '<sip:a@192.0.2.30>, <sip:b@192.0.2.31>')
      await refuse(1, status)
      expect(engine.sent).toHaveLength(count)
    }
  })

  it('ends with what the last place has said', async () => {
    const { engine, refuse } = await calling(sip)
    await refuse(0, 301, '<sip:a@192.0.2.30>')
    await refuse(1, 486)
    expect(engine.store.records).toMatchObject([
      { sip_status: 486, trunk: 'sipUri', remote_host: '192.0.2.30' },
    ])
  })

  it.each([
    ['an address that customers may not call', '<sip:a@10.0.0.8>', 'sip_refused_address'],
    ['a proxy of the operator', '<sip:a@192.0.2.250>', 'sip_refused_address'],
    ['a SIP realm of the platform', '<sip:alice@example.com>', 'loop_detected'],
    ['the platform itself', '<sip:a@127.0.0.1:5060>', 'sip_refused_address'],
    ['a phone number', '<tel:+4930123>', 'bad_request'],
    ['a secure URI, without a port of TLS', '<sips:a@192.0.2.30>', 'sip_unreachable'],
  ])('is not followed to %s', async (_what, contact, code) => {
    const { engine, refuse, decisions } = await calling(sip)
    engine.hasTls = false
    await refuse(0, 302, contact)
    expect(engine.sent).toHaveLength(1)
    expect(engine.store.records).toMatchObject([{ sip_status: 302 }])
    expect(decisions()).toMatchObject([{ code }])
  })

  it.each([305, 380])('is not followed for %i', async (status) => {
    const { engine, refuse } = await calling(sip)
    await refuse(0, status, '<sip:a@192.0.2.30>')
    expect(engine.sent).toHaveLength(1)
    expect(engine.store.records).toMatchObject([{ sip_status: status }])
  })

  it('is followed to no place twice, and to five at most', async () => {
    const { engine, refuse, decisions } = await calling(sip)
    await refuse(0, 302, '<sip:a@192.0.2.31>')
    await refuse(1, 302, '<sip:a@192.0.2.31>')
    expect(engine.sent).toHaveLength(2)
    expect(decisions().at(-1)).toMatchObject({ code: 'loop_detected' })

    const many = await calling(sip)
    for (let n = 0; n < 6; n++) await many.refuse(n, 302, `<sip:n${n}@192.0.2.40>`)
    expect(many.engine.sent).toHaveLength(6)
    expect(many.engine.store.records).toMatchObject([{ sip_status: 302 }])
  })

  it('is not followed any more once the call has been given up', async () => {
    const { engine, sent } = await calling(sip)
    void engine.calls.hangUpAll('the test')
    sent(0).refuse(302, contacts('<sip:a@192.0.2.30>'))
    await calm()
    expect(engine.sent).toHaveLength(1)
    expect(engine.calls.liveCount).toBe(0)
  })
})

describe('a phone of a user that redirects', () => {
  const carol = { ...phone, aor: 'carol@example.com', contact: 'sip:carol@10.0.0.9:5070' }
  const withCarol = (engine: ScriptedEngine): void => {
    engine.hasRegistrationHook = true
    engine.phones.set('carol@example.com', [carol])
  }

  it('sends its callers to another user of the realm', async () => {
    const { engine, sent, refuse } = await calling(user, withCarol)
    await refuse(0, 302, '<sip:carol@example.com>')
    expect(sent(1).options).toMatchObject({ uri: carol.contact, to: 'sip:alice@example.com' })
    expect(sent(1).options.user).toMatchObject({ username: 'carol', realm: 'example.com' })
    sent(1).answer()
    await calm()
    expect(engine.calls.list(account.account_sid)).toMatchObject([{ call_status: 'in-progress' }])
  })

  it('sends them to its next Contact when the first is out of reach, also where another phone was busy', async () => {
    const desk = { ...phone, key: 'sip:alice@10.0.0.7:5070;', contact: 'sip:alice@10.0.0.7:5070' }
    const dave = { ...phone, aor: 'dave@example.com', contact: 'sip:dave@10.0.0.10:5070' }
    const { engine, sent, refuse } = await calling(user, (scripted) => {
      withCarol(scripted)
      scripted.phones.set('alice@example.com', [phone, desk])
      scripted.phones.set('dave@example.com', [dave])
      scripted.reach = async ({ aor, remote }) => (aor === carol.aor ? { ...remote, name: 'carol' } : remote)
      scripted.open = async () => Promise.reject(new AppError('sip_unreachable', 'the phone is gone'))
    })
    await refuse(0, 486)
    await refuse(1, 302, '<sip:carol@example.com>, <sip:dave@example.com>')
    expect(engine.sent).toHaveLength(3)
    expect(sent(2).options.uri).toBe(dave.contact)
  })

  it.each([
    '<sip:carol@elsewhere.example>',
    '<sip:+4930123@192.0.2.9>',
    '<tel:+4930123>',
    '<sip:dave@example.com>',
  ])('does not make the account call %s', async (contact) => {
    const { engine, refuse, decisions } = await calling(user, withCarol)
    await refuse(0, 302, contact)
    expect(engine.sent).toHaveLength(1)
    expect(decisions()).toHaveLength(1)
    expect(decisions()[0]?.code).toMatch(/not_permitted|user_not_registered/)
    expect(engine.store.records).toMatchObject([{ sip_status: 302 }])
  })
})

describe('a carrier that redirects', () => {
  const number: Target = { type: 'phone', number: '+4930123' }
  const gateways = [
    { sip_gateway_sid: 'g1', host: '192.0.2.10', port: 5060, protocol: 'udp' },
    { sip_gateway_sid: 'g2', host: '10.1.1.1', port: 5060, protocol: 'udp' },
  ] as const
  const withCarrier = (engine: ScriptedEngine): void => {
    engine.waysOut = [outboundCarrier('c1', { gateways })]
  }

  it.each([
    ['another of its gateways, also one inside', '<sip:4930123@10.1.1.1:5080>', '10.1.1.1'],
    ['an address that customers may call', '<sip:4930123@192.0.2.77>', '192.0.2.77'],
  ])('sends the call to %s', async (_what, contact, address) => {
    const { engine, sent, refuse } = await calling(number, withCarrier)
    await refuse(0, 302, contact)
    expect(sent(1).options.destination).toMatchObject({ address })
    await refuse(1, 486)
    expect(engine.store.records).toMatchObject([{ trunk: 'c1', sip_status: 486 }])
  })

  it.each([
    ['one of its gateways', '<sip:4930123@10.1.1.1>', ['g1: alive', 'g2: overloaded']],
    ['another port of the host of one', '<sip:4930123@10.1.1.1:5080>', ['g1: alive']],
  ])('to %s shows how that gateway is, and of no other', async (_what, contact, signs) => {
    const { engine, refuse } = await calling(number, withCarrier)
    await refuse(0, 302, contact)
    engine.sent[1]?.refuse(503, [
      { name: 'to', value: '<sip:4930123@10.1.1.1>;tag=t' },
      { name: 'retry-after', value: '9' },
    ])
    await settle()
    expect(engine.gatewaySigns).toEqual(signs)
  })

  it.each([false, true])('sends it to Microsoft Teams only if it is shared: %s', async (isShared) => {
    const teams = { sip_gateway_sid: 'g3', host: '192.0.2.201', port: 5061, protocol: 'tls' } as const
    const { engine, refuse, decisions } = await calling(number, (scripted) => {
      scripted.waysOut = [outboundCarrier('c1', { isShared, gateways: [gateways[0], teams] })]
    })
    await refuse(0, 302, '<sip:4930123@192.0.2.201:5061;transport=tls>')
    expect(engine.sent).toHaveLength(isShared ? 2 : 1)
    expect(decisions()[0]?.code).toBe(isShared ? undefined : 'teams_by_tenant_only')
  })

  it('does not send it to an address inside, and the next gateway is tried', async () => {
    const { sent, refuse, decisions } = await calling(number, withCarrier)
    await refuse(0, 302, '<sip:4930123@10.9.9.9>')
    expect(sent(1).options.destination).toMatchObject({ address: '10.1.1.1' })
    expect(decisions()).toHaveLength(1)
  })
})
