import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import { rules } from '../../calls/rules.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

const path = () => `/Accounts/${api.own.account_sid}/DryRuns`
const outbound = { direction: 'outbound', from: '+4420', to: '+4930' }

describe('POST /Accounts/{AccountSid}/DryRuns', () => {
  it('says what becomes of a call, with the row of each rule in the reference', async () => {
    const { status, body } = await api.post(path(), api.own.accountKey, { ...outbound, trunk: 'acme' })
    expect(status).toBe(200)
    expect(body).toEqual({
      outcome: 'refused',
      refusal: { code: 'no_carrier', sentence: 'no carrier takes it', cure: 'Add one.', sip_status: 603 },
      decisions: [
        {
          rule: 'phone-no-carrier',
          sentence: 'No carrier.',
          outcome: 'refused',
          code: 'no_carrier',
          link: 'docs/reference/routing.md#phone-no-carrier',
        },
      ],
      attempts: [],
      assumptions: [],
    })
    expect(Object.keys(rules)).toContain('phone-no-carrier')
    expect(api.dryRuns.at(-1)).toEqual({
      account_sid: api.own.account_sid,
      question: {
        direction: 'outbound',
        from: '+4420',
        to: { type: 'phone', number: '+4930', trunk: 'acme' },
      },
    })
    expect(api.placed).toEqual([])
  })

  it('takes the target of a call as POST /Calls does', async () => {
    const asked = async (body: object) => {
      const reply = await api.post(path(), api.own.accountKey, { ...outbound, ...body })
      return reply.status === 200 ? api.dryRuns.at(-1)?.question : reply
    }
    expect(await asked({ to: { type: 'phone', number: '+4930', trunk: 'acme', name: null } })).toMatchObject({
      to: { type: 'phone', number: '+4930', trunk: 'acme' },
    })
    expect(await asked({ to: { type: 'sip', sipUri: 'sip:bob@192.0.2.9' } })).toMatchObject({
      to: { type: 'sip', sipUri: 'sip:bob@192.0.2.9' },
    })
    for (const [to, msg] of [
      [{ type: 'phone' }, 'to.number is required with to.type "phone"'],
      [{ type: 'fax', number: '1' }, 'to.type must be one of "phone", "user", "sip", "teams"'],
      [17, 'to must be'],
    ] as const)
      expect(await asked({ to })).toMatchObject({
        status: 400,
        body: { msg: expect.stringContaining(msg) },
      })
    expect(await asked({ direction: 'inbound', to: { type: 'phone', number: '1' } })).toMatchObject({
      status: 400,
      body: { msg: 'to must be text with direction inbound: what the caller dials' },
    })
  })

  it('asks about the target that the text names, and about the address of a carrier', async () => {
    const { sid } = (
      await api.post('/VoipCarriers', api.own.accountKey, { name: 'acme', account_sid: api.own.account_sid })
    ).body as { sid: string }
    const gateway = { voip_carrier_sid: sid, ipv4: '203.0.113.10', inbound: true }
    expect((await api.post('/SipGateways', api.own.accountKey, gateway)).status).toBe(201)
    const asked = async (body: object) => {
      const { status } = await api.post(path(), api.own.accountKey, body)
      return status === 200 ? api.dryRuns.at(-1)?.question : status
    }
    expect(await asked({ ...outbound, to: 'sip:bob@192.0.2.9' })).toMatchObject({
      to: { type: 'sip', sipUri: 'sip:bob@192.0.2.9' },
    })
    const inbound = { direction: 'inbound', from: '+4420', to: '15550100' }
    expect(await asked(inbound)).toEqual({ ...inbound, sourceAddress: undefined })
    expect(await asked({ ...inbound, trunk: 'acme' })).toMatchObject({ sourceAddress: '203.0.113.10' })
    expect(await asked({ ...inbound, source_address: '2001:db8::1' })).toMatchObject({
      sourceAddress: '2001:db8::1',
    })
    expect(await asked({ ...inbound, trunk: 'other' })).toBe(400)
    expect(await asked({ ...inbound, source_address: 'sip.example.com' })).toBe(400)
    expect(await asked({ ...outbound, source_address: '203.0.113.10' })).toBe(400)
    expect(await asked({ ...outbound, to: '' })).toBe(400)
    expect(await asked({ ...outbound, direction: 'sideways' })).toBe(400)
  })
})
