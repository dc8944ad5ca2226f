/** Pages beside each other, each with its address. */
export const Tabs = ({ label, of }: { label: string; of: readonly { href: string; text: string; current: boolean }[] }) => (
  <nav class="tabs" aria-label={label}>
    {of.map(({ href, text, current }) => (
      <a key={href} href={href} aria-current={current ? 'page' : undefined}>
        {text}
      </a>
    ))}
  </nav>
)
