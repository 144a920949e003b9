// All endpoints, sorted by the path they start with. A new resource is one file and one line here.
import { accountRoutes, accounts } from './accounts/index.ts'
import { alertRoutes } from './alerts.ts'
import { apiKeys, createApiKey } from './api-keys.ts'
import { appEnv } from './app-env.ts'
import { applications, applicationsOfAccount } from './applications.ts'
import { auditLogRoutes } from './audit-log.ts'
import { availability } from './availability.ts'
import { callDefenceRoutes } from './call-defence.ts'
import { callDetailRoutes } from './call-details/index.ts'
import { callRoutes } from './calls/index.ts'
import { carrierRoutes } from './carriers/index.ts'
import { clients } from './clients.ts'
import { ofAccount } from './define/list-route.ts'
import type { ApiRoute } from './define/route.ts'
import { forgottenPasswordRoutes } from './logins/forgotten-passwords.ts'
import { googleCustomVoiceRoutes } from './google-custom-voices.ts'
import { lcrRoutes } from './lcrs/index.ts'
import { limitRoutes } from './limits.ts'
import { login, logout } from './logins/login.ts'
import { microsoftTeamsTenants } from './microsoft-teams-tenants.ts'
import { passwordSettingsRoutes } from './logins/password-settings.ts'
import { phoneNumbers, phoneNumbersOfServiceProvider } from './phone-numbers.ts'
import { platformAddressRoutes } from './platform-addresses.ts'
import { queueRoutes } from './queues.ts'
import { recentCallRoutes } from './recent-calls.ts'
import { registeredSipUserRoutes } from './registered-sip-users.ts'
import { serviceProviders } from './service-providers.ts'
import { systemInformationRoutes } from './system-information.ts'
import { ttsCacheRoutes } from './tts-cache.ts'
import { createUserRoutes } from './users/index.ts'
import { speechCredentialRoutes } from './speech-credentials/index.ts'
import { webhooks } from './webhooks.ts'

export const apiRoutes: readonly ApiRoute[] = [
  ...accountRoutes,
  apiKeys.listedAt({
    path: '/Accounts/{AccountSid}/ApiKeys',
    operationId: 'listApiKeysOfAccount',
    where: ofAccount,
  }),
  ...applicationsOfAccount,
  ...callRoutes,
  ...recentCallRoutes,
  ...callDetailRoutes,
  ...alertRoutes,
  ...registeredSipUserRoutes,
  ...apiKeys.routes,
  createApiKey,
  appEnv,
  ...applications.routes,
  ...auditLogRoutes,
  availability,
  ...callDefenceRoutes,
  ...carrierRoutes,
  ...clients.routes,
  ...googleCustomVoiceRoutes,
  ...lcrRoutes,
  ...limitRoutes,
  ...microsoftTeamsTenants.routes,
  ...phoneNumbers.routes,
  ...passwordSettingsRoutes,
  ...platformAddressRoutes,
  ...queueRoutes,
  ...serviceProviders.routes,
  accounts.listedAt({
    path: '/ServiceProviders/{ServiceProviderSid}/Accounts',
    operationId: 'listAccountsOfServiceProvider',
    where: ({ provider }) => ({ service_provider_sid: provider?.service_provider_sid }),
  }),
  apiKeys.listedAt({
    path: '/ServiceProviders/{ServiceProviderSid}/ApiKeys',
    operationId: 'listApiKeysOfServiceProvider',
    where: ({ provider }) => ({ service_provider_sid: provider?.service_provider_sid, account_sid: null }),
  }),
  applications.listedAt({
    path: '/ServiceProviders/{ServiceProviderSid}/Applications',
    operationId: 'listApplicationsOfServiceProvider',
    where: ({ provider }) => ({ service_provider_sid: provider?.service_provider_sid }),
  }),
  phoneNumbersOfServiceProvider,
  ...systemInformationRoutes,
  ...ttsCacheRoutes,
  ...createUserRoutes({ accounts, serviceProviders }),
  ...speechCredentialRoutes,
  ...webhooks.routes,
  ...forgottenPasswordRoutes,
  login,
  logout,
]
