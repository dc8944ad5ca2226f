/** Tabs, each with its URL. */
export const Tabs = ({ label, tabs }: { label: string; tabs: readonly { href: string; text: string; current: boolean }[] }) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(({ href, text, current }) => (
      <a key={href} href={href} aria-current={current ? 'page' : undefined}>
        {text}
      </a>
    ))}
  </nav>
)
