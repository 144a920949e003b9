// Keys that a dial captures, pressed faster than its hook answers.
import { describe, expect, it } from 'vitest'
import { actingTenant } from '../../lib/acting-for.ts'
import { maxReports } from './key-reports.ts'
import { answered, bye, dialled, type Dialled } from '../../../test/support/scripted-engine/dialling.ts'
import { account } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { heldAnswer } from '../../../test/support/scripted-engine/scripted-hooks.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { sipRequest } from '../../../test/support/scripted-engine/scripted-messages.ts'
import { parseVerbs } from '../../verbs/index.ts'

async function pressByInfo({ caller }: Pick<Dialled, 'caller'>, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    const info = sipRequest('INFO', { type: 'application/dtmf-relay', body: 'Signal=1\r\nDuration=40\r\n' })
    await caller.dialog?.listener.requested(info)
  }
  await settle()
}

const capture = { dtmfCapture: ['1'], dtmfHook: '/keys' }
const reports = ({ engine }: Dialled): number => engine.hooks.payloadsOf('/keys').length

describe('captured keys', () => {
  it('that a hook does not answer are bounded, the journal says so once, and they are reported again later', async () => {
    const held = heldAnswer()
    const session = await dialled(parseVerbs, capture, ({ hooks }) => hooks.answers.set('/keys', held.answer))
    await answered(session.called())
    await pressByInfo(session, 400)
    expect(reports(session)).toBe(maxReports)
    expect(session.called().dialog.isOver).toBe(false)
    held.release([])
    await settle()
    await pressByInfo(session, 1)
    expect(reports(session)).toBe(maxReports + 1)
    await bye(session.called().dialog)
    const story = session.engine.store.journalOf(session.sidOf('inbound'))
    const said = story.filter((event) => event.type === 'note' && event.sentence.includes('dtmfHook'))
    expect(said).toHaveLength(1)
  })

  it('are reported at a steady rate to a hook that answers, and those that wait are given up with the talk', async () => {
    const session = await dialled(parseVerbs, capture, ({ hooks }) => hooks.on('/keys', []))
    const { engine } = session
    await answered(session.called())
    for (let count = 0; count < 40; count += 1) await pressByInfo(session, 1)
    expect(reports(session)).toBe(20)
    engine.clock.advance(1000)
    await settle()
    expect(reports(session)).toBe(25)
    await bye(session.called().dialog)
    engine.clock.advance(60_000)
    await settle()
    expect(reports(session)).toBe(25)
  })

  it('count for the account of the call', async () => {
    const tenants: (string | undefined)[] = []
    const session = await dialled(parseVerbs, capture, ({ hooks }) =>
      hooks.answers.set('/keys', () => {
        tenants.push(actingTenant())
        return Promise.resolve([])
      }),
    )
    await answered(session.called())
    await pressByInfo(session, 1)
    expect(tenants).toEqual([account.account_sid])
  })
})
