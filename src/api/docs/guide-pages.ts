// The pages of /docs for the files in docs/guides and docs/reference.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { html, type Html } from './html.ts'
import { page } from './layout.ts'
import { markdown, slugOf, type Lead } from './markdown.ts'
import { sectionsOf, type Section } from './sections.ts'

const folder = join(import.meta.dirname, '../../../docs/guides')

/** Returns the names of the guides, in the order in which the README of the folder lists them. */
function guideNames(): readonly string[] {
  if (!existsSync(folder)) return []
  return Array.from(textOf('README').matchAll(/^\| \[[^\]]*\]\(([\w-]+)\.md\)/gm), ([, name = '']) => name)
}

const textOf = (name: string): string => readFileSync(join(folder, `${name}.md`), 'utf8')
const titleOf = (name: string): string => /^# (.*)$/m.exec(textOf(name))?.[1] ?? name
const urlOf = (name: string): string => `/docs/guides/${name}`

export interface GuideLink {
  readonly title: string
  readonly url: string
}

export function guideLinks(): readonly GuideLink[] {
  return guideNames().map((name) => ({ title: titleOf(name), url: urlOf(name) }))
}

export interface GuideSection extends GuideLink {
  readonly guide: string
  readonly text: string
  /** Each word of the section once, commands and files included, in lower case. */
  readonly words: string
}

/** Returns the headings within the guides, each with the text below it. */
export function guideSections(): readonly GuideSection[] {
  return guideNames().flatMap((name) => {
    const [, ...sections] = textOf(name)
      .replaceAll(/^<!--[^]*?-->$/gm, '')
      .split(/^## /m)
    return sections.map((section) => {
      const [title = '', ...lines] = section.replaceAll(/^```[^]*?^```$/gm, '').split('\n')
      const text = lines.filter((line) => line !== '' && !line.startsWith('|')).join('\n')
      const words = [...new Set(section.toLowerCase().match(/[\w][\w.-]+/g))].join(' ')
      return { title, guide: titleOf(name), text, words, url: `${urlOf(name)}#${slugOf(title)}` }
    })
  })
}

export function guidesPage(): string {
  const text = existsSync(folder) ? textOf('README') : '# Guides\n\nThey are not beside this program.'
  return page({ title: 'Guides', menu: guideMenu(), content: markdown(text, leadFrom('guides')) })
}

/** Returns undefined if there is no such guide. */
export function guidePage(name: string): string | undefined {
  if (!guideNames().includes(name)) return undefined
  return page({
    title: titleOf(name),
    menu: guideMenu(),
    content: markdown(textOf(name), leadFrom('guides')),
  })
}

function guideMenu(): Html {
  return html`<strong>Guides</strong>
    <ul>
      ${guideLinks().map(({ title, url }) => html`<li><a href="${url}">${title}</a></li>`)}
    </ul>`
}

export type ReferenceName = (typeof references)[number]

const references = [
  'audio-streams',
  'destinations',
  'errors',
  'hooks',
  'resources',
  'routing',
  'settings',
  'verbs',
  'websocket',
] as const

/** Returns a file of docs/reference, which is written from the declarations; undefined if it is not beside this program. */
function referenceText(name: ReferenceName): string | undefined {
  const file = join(folder, `../reference/${name}.md`)
  return existsSync(file) ? readFileSync(file, 'utf8').replace(/^Generated from .*\n/m, '') : undefined
}

/** Returns undefined if the file is not beside this program. */
export function referencePage(name: ReferenceName): string | undefined {
  const text = referenceText(name)
  if (text === undefined) return undefined
  const [{ title } = { title: name }, ...sections] = sectionsOf(text)
  return page({
    title,
    menu: sectionMenu(
      title,
      sections.filter(({ depth }) => depth === 2),
    ),
    content: markdown(text, leadFrom('reference')),
  })
}

function sectionMenu(title: string, sections: readonly Section[]): Html | undefined {
  if (sections.length === 0) return undefined
  return html`<strong>${title}</strong>
    <ul>
      ${sections.map((section) => html`<li><a href="#${section.anchor}">${section.title}</a></li>`)}
    </ul>`
}

export function referenceSections(name: ReferenceName): readonly Section[] {
  return sectionsOf(referenceText(name) ?? '')
}

/** Returns addresses of links. Guides and the reference are here; the rest of the repository is not. */
function leadFrom(place: 'guides' | 'reference'): Lead {
  return (target) => {
    if (target.startsWith('#')) return target
    const { host, pathname, hash } = new URL(target, `file://docs/${place}/`)
    const [, found, name = ''] = /^\/(guides|reference)\/([a-z-]+)\.md$/.exec(pathname) ?? []
    if (host !== 'docs') return undefined
    if (found === 'guides') return guideNames().includes(name) ? `${urlOf(name)}${hash}` : undefined
    return references.some((known) => known === name) ? `/docs/${name}${hash}` : undefined
  }
}
