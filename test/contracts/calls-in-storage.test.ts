// The call engine on the real store: the store understands the end of a call as the engine writes it.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parsePlainVerbs } from '../support/scripted-engine/plain-verbs.ts'
import { account } from '../support/scripted-engine/scripted-facts.ts'
import { createScriptedEngine, type ScriptedEngine } from '../support/scripted-engine/scripted-engine.ts'
import { settle } from '../support/scripted-engine/turns.ts'
import { systemTenancy } from '../../src/contracts/caller.ts'
import { onEachStore, type TestStorage } from '../support/each-store.ts'
import { until } from '../support/wait.ts'

onEachStore(({ open }) => {
  let test: TestStorage

  beforeEach(async () => {
    test = await open()
  })
  afterEach(() => test.close())

  async function engineWith(verbs: unknown, disable_cdrs: boolean): Promise<ScriptedEngine> {
    const engine = createScriptedEngine(parsePlainVerbs, { store: test.storage.calls })
    engine.account = { ...account, disable_cdrs }
    engine.hooks.on('/call', verbs)
    await engine.calls.start()
    return engine
  }

  const openCalls = () => test.query('select call_sid from open_calls')

  async function endOneCall(disable_cdrs: boolean): Promise<string> {
    const engine = await engineWith([{ verb: 'answer' }, { verb: 'hangup' }], disable_cdrs)
    engine.ring()
    await until('the call to end', async () => {
      await settle()
      return engine.calls.liveCount === 0
    })
    await test.storage.calls.flush()
    const [row] = await test.query('select call_sid from call_journal')
    return String(row?.['call_sid'])
  }

  describe.each([
    ['keeps its call record', false, 1],
    ['keeps no call records', true, 0],
  ])('a call of an account that %s', (_, disable_cdrs, records) => {
    it('a call is closed in storage when it has ended, and no later start finds it', async () => {
      await endOneCall(disable_cdrs)
      expect(await openCalls()).toEqual([])
      expect(await test.query('select call_sid from recent_calls')).toHaveLength(records)
      expect(await (await test.reopen()).calls.adopt()).toEqual([])
    })

    it('a call whose process was killed is closed by the next start, once', async () => {
      const engine = await engineWith([{ verb: 'answer' }, { verb: 'wait', ms: 90_000 }], disable_cdrs)
      engine.ring()
      await settle()
      await test.storage.calls.flush()
      expect(await openCalls()).toHaveLength(1)
      await test.reopen()
      await engineWith([], disable_cdrs)
      await until('it to be closed', async () => (await openCalls()).length === 0)
      expect(await test.query('select call_sid from recent_calls')).toHaveLength(records)
      expect(await (await test.reopen()).calls.adopt()).toEqual([])
    })

    it('the journal of a call is removed with the call records of its age', async () => {
      const call_sid = await endOneCall(disable_cdrs)
      const read = () => test.storage.journal.read(systemTenancy, account.account_sid, call_sid)
      expect(await test.storage.expired.remove('recent_calls', 0, 100)).toBe(0)
      expect(await read()).toContainEqual(expect.objectContaining({ type: 'ended' }))
      expect(await test.storage.expired.remove('recent_calls', Number.MAX_SAFE_INTEGER, 100)).toBe(1)
      expect(await read()).toBeUndefined()
    })
  })

  it('an ended call is found by its facts for a while, and its whole journal is read from storage', async () => {
    const engine = await engineWith([{ verb: 'answer' }, { verb: 'wait', ms: 90_000 }], false)
    engine.ring()
    await settle()
    const [live] = engine.calls.list(account.account_sid)
    const { account_sid, call_sid } = live ?? { account_sid: '', call_sid: '' }
    expect(engine.calls.journal(account_sid, call_sid)).not.toEqual([])
    await engine.calls.hangUp(account_sid, call_sid)
    expect(engine.calls.find(account_sid, call_sid)).toMatchObject({ call_status: 'completed' })
    expect(engine.calls.journal(account_sid, call_sid)).toBeUndefined()
    const events = await test.storage.journal.read(systemTenancy, account_sid, call_sid)
    expect(events?.map(({ seq }) => seq)).toEqual(events?.map((_, index) => index + 1))
    expect(events).toContainEqual(expect.objectContaining({ type: 'ended' }))
  })

  it('calls that earlier versions left open, having lost an end without a record, are closed', async () => {
    const call_sid = await endOneCall(true)
    await test.query('delete from unrecorded_calls')
    await test.query(
      `insert into open_calls (call_sid, account_sid, created_at, node_id)
         values ('${call_sid}', '${account.account_sid}', 1, '')`,
    )
    const events = await test.storage.journal.read(systemTenancy, account.account_sid, call_sid)
    await test.reopen()
    await engineWith([], true)
    await until('it to be closed', async () => (await openCalls()).length === 0)
    expect(await test.query('select call_sid from unrecorded_calls')).toEqual([{ call_sid }])
    // Nothing is added to a complete journal.
    expect(await test.storage.journal.read(systemTenancy, account.account_sid, call_sid)).toEqual(events)
  })
})
