// Microsoft Teams transfers the other side of its call (REFER), alone and with a second call of the same tenant, and
// replaces one of its calls (Replaces).
import { describe, expect, it } from 'vitest'
import { answered, dialled, hearings, type Dialled } from '../../../test/support/scripted-engine/dialling.ts'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import { outboundCarrier } from '../../../test/support/scripted-engine/scripted-facts.ts'
import type { ScriptedEngine } from '../../../test/support/scripted-engine/scripted-engine.ts'
import {
  ScriptedReferral,
  type ScriptedReferralOptions,
} from '../../../test/support/scripted-engine/scripted-referral.ts'
import type { ScriptedDialog } from '../../../test/support/scripted-engine/scripted-dialog.ts'
import { fqdn, fromTeams, tenantOf } from '../../../test/support/scripted-engine/teams.ts'
import { parseVerbs } from '../../verbs/index.ts'

const other = 'other.teams.example.com'
const isOurs = (engine: ScriptedEngine): void => {
  engine.teamsTenants = [tenantOf(), tenantOf({ tenant_fqdn: other })]
  engine.waysOut = [outboundCarrier('c')]
}

/** A call from Teams that talks with a telephone. */
async function talking(changes: Parameters<typeof fromTeams>[0] = {}): Promise<Dialled> {
  const target = [{ type: 'phone', number: '+15550199' }]
  const one = await dialled(parseVerbs, { target }, isOurs, fromTeams(changes))
  await answered(one.called())
  return one
}

async function refer(dialog: ScriptedDialog | undefined, options: ScriptedReferralOptions) {
  const referral = new ScriptedReferral(options)
  dialog?.listener.referred?.(referral)
  await calm()
  return referral
}

const back = 'sip:192.0.2.201:5061;transport=tls;x-m=8:orgid:carol;x-t=a-tenant'

describe('a REFER of Microsoft Teams', () => {
  it('has what it says called at Teams as it stands, for the tenant, with Referred-By as it came', async () => {
    const one = await talking()
    const referral = await refer(one.caller.dialog, { referTo: back })
    expect(referral.answer).toBe(202)
    expect(one.called(1).options).toMatchObject({ uri: back, to: back, contactHost: fqdn })
    expect(one.called(1).options.destination).toMatchObject({ transport: 'tls', address: '192.0.2.201' })
    expect(one.called(1).options.headers).toContainEqual({
      name: 'referred-by',
      value: '<sip:alice@example.com>',
    })
    one.called(1).progress(180)
    await answered(one.called(1))
    expect(referral.notified).toEqual([180, 200])
    expect(one.caller.dialog?.sentBye).toBeDefined()
    expect(hearings(one)).toEqual([undefined, 2, 1])
  })

  it('comes of a call to Teams as well', async () => {
    const target = [{ type: 'teams', number: '+15550100', tenant: other }]
    const one = await dialled(parseVerbs, { target }, isOurs)
    await answered(one.called())
    const referral = await refer(one.called().dialog, { referTo: 'sip:+15550142@192.0.2.202:5061' })
    expect(referral.answer).toBe(202)
    expect(one.called(1).options).toMatchObject({
      uri: 'sip:+15550142@192.0.2.202:5061',
      contactHost: other,
    })
  })

  it.each(['sip:+15550142@example.com', 'sip:alice@192.0.2.66', 'tel:+15550142'])(
    'to %s, which is not Teams, is refused: an application decides about that',
    async (referTo) => {
      const one = await talking()
      expect((await refer(one.caller.dialog, { referTo })).answer).toBe(403)
      expect(one.engine.sent).toHaveLength(1)
      expect(hearings(one)).toEqual([1, 0])
    },
  )

  it('with Replaces joins the other sides of two calls of one tenant', async () => {
    const one = await talking()
    const second = one.engine.ring(fromTeams({ callId: 'the second' }))
    await calm()
    await answered(one.called(1))
    const referral = await refer(one.caller.dialog, { referTo: back, replaces: second.dialog })
    expect(referral.answer).toBe(202)
    expect(hearings(one)).toEqual([undefined, 3, undefined, 1])
    expect(one.caller.dialog?.sentBye).toBeDefined()
    expect(second.dialog?.sentBye).toBeDefined()
  })

  it('with Replaces of a call of another tenant, or of none here, is refused, and all talk on', async () => {
    const one = await talking()
    const second = one.engine.ring(fromTeams({ callId: 'the second', to: `+15550100@${other}` }))
    await calm()
    await answered(one.called(1))
    expect((await refer(one.caller.dialog, { referTo: back, replaces: second.dialog })).answer).toBe(403)
    expect((await refer(one.caller.dialog, { referTo: back, replaces: null })).answer).toBe(481)
    expect(hearings(one)).toEqual([1, 0, 3, 2])
  })
})

describe('an INVITE with Replaces of Microsoft Teams', () => {
  it.each([
    [fqdn, undefined],
    [other, 403],
  ])('to %s takes the place of a call of the same tenant alone', async (called, status) => {
    const one = await talking()
    const dialog = one.caller.dialog
    if (dialog === undefined) throw new Error('the call was not answered')
    const replaces = { kind: 'confirmed', dialog } as const
    const third = one.engine.ring(fromTeams({ callId: 'the third', to: `+15550100@${called}`, replaces }))
    await calm()
    expect(third.final?.status).toBe(status)
    expect(hearings(one)).toEqual(status === undefined ? [undefined, 2, 1] : [1, 0])
  })
})
