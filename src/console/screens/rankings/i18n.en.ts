export default {
  subtitle: 'Confirmed orders that came through affiliates, before refunds, in USD',
  kind: 'Rank by',
  merchants: 'Merchants',
  limit: 'Rows',
  rank: 'Rank',
  gmv: 'Affiliate sales',
  none: 'No affiliate sales in this period',
  noneText: 'Orders placed through affiliate links are ranked here. Try a longer period.',
} as const
