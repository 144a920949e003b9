// The application that a caller reaches, and by which rule: the dialled one, the account's own, its fixed verbs; over
// UDP and TCP.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { createCaller } from '../support/caller.ts'
import { provision, sharedPlatform, type Platform } from '../support/platform-process.ts'
import { headerOf } from '../support/sipp.ts'
import { isMissing } from '../support/tools.ts'

const verbs = [{ verb: 'answer' }, { verb: 'hangup' }]

describe.skipIf(isMissing('sipp'))('routing of user calls', () => {
  let application: Application
  let platform: Platform

  beforeAll(async () => {
    application = await startApplication()
    application.on('/call', { json: verbs })
    application.on('/status', { status: 200 })
    platform = await sharedPlatform()
  })

  afterAll(async () => {
    await application?.close()
  })

  it('anything dialled reaches the device calling application of the account', async () => {
    const tenant = await provision(platform.api, { application })
    await platform.api.must('PUT', `/Accounts/${tenant.account_sid}`, {
      device_calling_application_sid: tenant.application_sid,
    })
    const caller = createCaller(platform, tenant)
    const result = await caller.call('call', `12345@${tenant.realm}`)
    expect(result.report).toBe('')
    expect(application.to('/call').at(-1)?.body).toMatchObject({
      application_sid: tenant.application_sid,
      to: '12345',
    })
    expect(await caller.recordOf(result)).toMatchObject({ to: '12345', answered: true })
  })

  it('without such an application the call is refused with 480 and a reason', async () => {
    const tenant = await provision(platform.api, { application })
    const result = await createCaller(platform, tenant).call('call-refused', `12345@${tenant.realm}`, {
      status: 480,
    })
    expect(result.report).toBe('')
    const refusal = result.messages.findLast(({ direction }) => direction === 'received')
    expect(headerOf(refusal, 'X-Reason')).toMatch(/\w{3}/)
  })

  it('fixed verbs of the application run without a call hook', async () => {
    const app_json = JSON.stringify([{ answer: {} }, { hangup: {} }])
    const tenant = await provision(platform.api, { application, fields: { app_json } })
    const asked = application.to('/call').length
    const result = await createCaller(platform, tenant).call('call', tenant.target)
    expect(result.report).toBe('')
    expect(application.to('/call')).toHaveLength(asked)
  })

  it('an application of another account cannot be dialled', async () => {
    const [own, foreign] = [
      await provision(platform.api, { application }),
      await provision(platform.api, { application }),
    ]
    const target = `app-${foreign.application_sid}@${own.realm}`
    const asked = application.to('/call').length
    const result = await createCaller(platform, own).call('call-refused', target, { status: 480 })
    expect(result.report).toBe('')
    expect(application.to('/call')).toHaveLength(asked)
  })

  it('a client that may not dial applications is refused', async () => {
    const tenant = await provision(platform.api, { application })
    await platform.api.must('PUT', `/Clients/${tenant.client_sid}`, { allow_direct_app_calling: 0 })
    const result = await createCaller(platform, tenant).call('call-refused', tenant.target, { status: 480 })
    expect(result.report).toBe('')
  })

  it('a call over TCP is served as one over UDP', async () => {
    const tenant = await provision(platform.api, { application })
    const caller = createCaller(platform, tenant)
    const result = await caller.call('call', tenant.target, {}, { transport: 'tcp' })
    expect(result.report).toBe('')
    expect(await caller.recordOf(result)).toMatchObject({ answered: true, sip_status: 200 })
  })
})
