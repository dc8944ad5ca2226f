export default {
  subtitle: 'What affiliates sold: confirmed orders that a partner brought, before refunds, in US dollars',
  kind: 'What is ranked',
  merchants: 'Merchants',
  limit: 'Rows',
  rank: 'Rank',
  gmv: 'Sold by affiliates',
  none: 'No affiliate sold anything in these days',
  noneText: 'Shops name their affiliates themselves; what is bought by an affiliate’s link is ranked here. Look at more days.',
} as const
