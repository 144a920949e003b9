// The platform's address in a call, where the platform has one in each of several networks.
import { describe, expect, it } from 'vitest'
import { callRequest, phone } from '../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../test/support/scripted-engine/scripted-engine.ts'
import { placeOn } from '../../test/support/scripted-engine/place-on.ts'
import { settle } from '../../test/support/scripted-engine/turns.ts'
import { parsePlainVerbs } from '../../test/support/scripted-engine/plain-verbs.ts'

const office = '192.0.2.7'
const places: Readonly<Record<string, string>> = { [office]: '192.0.2.1', '192.0.2.9': '10.0.0.1' }

/** Our address is 192.0.2.1 in the office network, 10.0.0.1 in that of the carriers, and 203.0.113.1 elsewhere. */
function engineInTwoNetworks(verbs: unknown): ScriptedEngine {
  const engine = createScriptedEngine(parsePlainVerbs)
  engine.localAddress = (remote = '') => places[remote] ?? '203.0.113.1'
  engine.hooks.on('/call', verbs)
  engine.phones.set(phone.aor, [{ ...phone, remote: { ...phone.remote, address: office } }])
  return engine
}

describe('our address', () => {
  it('in the record, the call hook and the status hook of an inbound call is the one towards its caller', async () => {
    const engine = engineInTwoNetworks([{ verb: 'answer' }, { verb: 'hangup' }])
    const invite = engine.ring()
    engine.localAddress = (remote) => (remote === invite.remote.address ? '10.0.0.1' : '203.0.113.1')
    await settle()
    expect(engine.hooks.payloadsOf('/call')).toMatchObject([{ local_sip_address: '10.0.0.1:5060' }])
    expect(engine.store.records).toMatchObject([{ host: '10.0.0.1' }])
    const named = engine.store.notifications.map((payload) => payload['fs_sip_address'])
    expect(new Set(named)).toEqual(new Set(['10.0.0.1:5060']))
  })

  it.each([
    ['a phone', callRequest.to, '192.0.2.1'],
    ['a SIP address', { type: 'sip', sipUri: 'sip:bob@192.0.2.9' } as const, '10.0.0.1'],
    [
      'a SIP address by a proxy',
      { type: 'sip', sipUri: 'sip:bob@b.test', proxy: 'sip:192.0.2.9' } as const,
      '10.0.0.1',
    ],
  ])('in From, the record and the hooks of a call to %s is the one towards it', async (_what, to, host) => {
    const engine = engineInTwoNetworks([{ verb: 'speak' }])
    await placeOn(engine, { ...callRequest, to })
    const [invite] = engine.sent
    expect(invite?.options.from).toBe(`<sip:+4420@${host}>`)
    invite?.answer()
    await settle()
    expect(engine.hooks.payloadsOf('/call')).toMatchObject([{ local_sip_address: `${host}:5060` }])
    engine.clock.advance(1000)
    await settle()
    expect(engine.store.records).toMatchObject([{ host, answered: true }])
    const named = engine.store.notifications.map((payload) => payload['fs_sip_address'])
    expect(new Set(named)).toEqual(new Set([`${host}:5060`]))
  })

  it('is the one towards the phone that answered, where several rang together', async () => {
    const engine = engineInTwoNetworks([{ verb: 'speak' }])
    const at = (address: string, key: string) => ({ ...phone, key, remote: { ...phone.remote, address } })
    engine.phones.set(phone.aor, [at(office, 'a'), at('192.0.2.9', 'b')])
    await placeOn(engine, callRequest)
    expect(engine.sent.map(({ options }) => options.from)).toEqual([
      '<sip:+4420@192.0.2.1>',
      '<sip:+4420@10.0.0.1>',
    ])
    engine.sent[1]?.answer()
    await settle()
    engine.clock.advance(1000)
    await settle()
    expect(engine.store.records).toMatchObject([{ host: '10.0.0.1', remote_host: '192.0.2.9' }])
  })
})
