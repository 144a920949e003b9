// docs/reference/settings.md, from src/config/.
import { describeSettings } from '../../src/config/config.ts'
import { table } from '../../src/api/docs/schema-text.ts'
import { page } from './page.ts'

export function settingsPage(): string {
  const rows = describeSettings().map(({ name, fallback, describe }) => [
    `<a id="${name}"></a>\`${name}\``,
    fallback === '' ? 'empty' : `\`${fallback}\``,
    describe,
  ])
  return page('Settings', '`src/config/`', [
    'Every setting is an environment variable. A wrong one stops the start with its name and the rule.',
    '',
    ...table(['Setting', 'Default', 'Meaning'], rows),
  ])
}
