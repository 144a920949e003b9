// The rules for new passwords, which an administrator sets.
import { systemTenancy } from '../../contracts/caller.ts'
import { flag, integer } from '../define/fields.ts'
import { object, whole } from '../define/reply-fields.ts'
import { defineRoute, everyone } from '../define/route.ts'
import { passwordSettingsSid, unsetMinLength } from './passwords.ts'

const lengths = { min: 8, max: 20 }
const texts = {
  min_password_length: 'The fewest characters of a new password.',
  require_digit: '1: a new password must have a digit.',
  require_special_character: '1: a new password must have one of `!@#$%^&*()_+-=[]{};\':"|\\,.<>/?`.',
}

const getPasswordSettings = defineRoute({
  method: 'GET',
  path: '/PasswordSettings',
  access: everyone,
  openToForcedChange: true,
  operationId: 'getPasswordSettings',
  tag: 'PasswordSettings',
  summary: 'The rules for new passwords.',
  reply: {
    status: 200,
    description: 'The settings; only the length until some are set.',
    component: 'PasswordSettings',
    body: object({
      min_password_length: whole(texts.min_password_length),
      require_digit: flag().describe(texts.require_digit).optional(),
      require_special_character: flag().describe(texts.require_special_character).optional(),
    }),
  },
  async handle({ services }) {
    const settings = await services.storage.for(systemTenancy).password_settings.find(passwordSettingsSid)
    if (settings === undefined) return { min_password_length: unsetMinLength }
    const { min_password_length, require_digit, require_special_character } = settings
    return { min_password_length, require_digit, require_special_character }
  },
})

const setPasswordSettings = defineRoute({
  method: 'POST',
  path: '/PasswordSettings',
  access: ['admin'],
  operationId: 'setPasswordSettings',
  tag: 'PasswordSettings',
  summary: 'Sets the rules for new passwords; members that are left out stay as they are.',
  body: {
    min_password_length: integer(lengths).optional().describe(texts.min_password_length),
    require_digit: flag().optional().describe(texts.require_digit),
    require_special_character: flag().optional().describe(texts.require_special_character),
  },
  reply: { status: 201, description: 'Set.', body: object({}) },
  async handle({ body, caller, services }) {
    const changes = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
    await services.storage.transaction(caller.tenancy, async ({ password_settings }) => {
      const isThere = await password_settings.update(passwordSettingsSid, changes)
      if (!isThere) await password_settings.insert({ password_settings_sid: passwordSettingsSid, ...changes })
    })
    return {}
  },
})

export const passwordSettingsRoutes = [getPasswordSettings, setPasswordSettings]
