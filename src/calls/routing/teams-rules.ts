// The rules for calls from and to Microsoft Teams.
import type { RuleGroup } from './rule-group.ts'

export const teamsCall = {
  title: 'Calls with Microsoft Teams',
  question:
    'Which application takes a call from a Microsoft Teams tenant, and by which tenant and proxy does a call go there?',
  rules: {
    'teams-application': {
      sentence: 'The tenant names an application.',
      decides: 'That application takes the call.',
    },
    'teams-no-application': {
      sentence: 'The tenant names no application.',
      decides: 'The call is refused with `no_application`.',
    },
    'teams-named-tenant': {
      sentence: 'The target names a tenant of the account.',
      decides: 'The call goes out in its name.',
    },
    'teams-only-tenant': {
      sentence: 'The target names no tenant, and the account has one alone.',
      decides: 'The call goes out in its name.',
    },
    'teams-tenant-of-caller': {
      sentence: 'The target names no tenant, and the call that dials it is one of a tenant.',
      decides: 'The call goes out in the name of that tenant.',
    },
    'teams-no-tenant': {
      sentence: 'The account has no such tenant, or several and the target names none of them.',
      decides: 'The call fails with `unknown_teams_tenant`.',
    },
    'teams-proxy-down': {
      sentence:
        'Some proxies of Microsoft Teams do not answer OPTIONS, were silent to a call within 30 seconds, or have asked for a rest with Retry-After, and others are well.',
      decides: 'They get no calls.',
    },
  },
} as const satisfies RuleGroup
