// The head of a generated page.

export function page(title: string, source: string, lines: readonly string[]): string {
  return [
    `# ${title}`,
    '',
    `Generated from ${source} by \`npm run docs\`; do not edit.`,
    '',
    ...lines,
    '',
  ].join('\n')
}
