import { describe, expect, it } from 'vitest'
import { account, phone } from '../../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { parsePlainVerbs } from '../../../test/support/scripted-engine/plain-verbs.ts'
import type { ScriptedInvite } from '../../../test/support/scripted-engine/scripted-sip.ts'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import { entryOf } from '../../lib/errors.ts'

interface Called {
  readonly engine: ScriptedEngine
  readonly caller: ScriptedInvite
}

/** Makes a user call another one, whose phone sends this final response. */
async function refusedWith(status: number): Promise<Called> {
  const engine = createScriptedEngine(parsePlainVerbs)
  engine.account = { ...account, device_calling_application_sid: null }
  engine.phones.set('alice@example.com', [phone])
  const caller = engine.ring({ to: 'alice@example.com' })
  await calm()
  engine.clock.advance(32_000)
  engine.sent[0]?.refuse(status)
  await calm()
  return { engine, caller }
}

const recordOf = ({ engine }: Called) => engine.store.records.find(({ direction }) => direction === 'inbound')

describe('a call from user to user', () => {
  it('whose called phone cannot be reached says to the caller, in its record and in its journal why', async () => {
    const called = await refusedWith(408)
    const { cure } = entryOf('sip_unreachable')
    expect(called.caller.final).toMatchObject({ status: 480 })
    expect(called.caller.final?.headers).toEqual([
      { name: 'reason', value: 'SIP;cause=408;text="Request Timeout"' },
      { name: 'x-reason', value: 'alice did not take the call' },
      { name: 'x-reason-code', value: 'sip_unreachable' },
    ])
    expect(recordOf(called)).toMatchObject({ sip_status: 480, failure: { code: 'sip_unreachable', cure } })
    const journal = called.engine.store.journalOf(recordOf(called)?.call_sid ?? '')
    expect(journal.filter(({ type }) => type === 'refusal')).toMatchObject([
      { code: 'sip_unreachable', sentence: expect.stringMatching(/^no response came from/) as string, cure },
    ])
  })

  it('that the called phone refuses is no failure of the platform', async () => {
    const called = await refusedWith(486)
    expect(called.caller.final).toMatchObject({ status: 486 })
    expect(recordOf(called)).toMatchObject({ sip_status: 486, failure: null })
  })
})
