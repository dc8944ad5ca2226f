/** A list of texts that differ. */
export const BulletList = ({ items }: { items: readonly string[] }) => (
  <ul class="bullets">
    {items.map((text) => (
      <li key={text}>{text}</li>
    ))}
  </ul>
)
