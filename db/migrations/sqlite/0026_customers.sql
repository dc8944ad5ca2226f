ALTER TABLE `customers` ADD `email_proven_at` integer;--> statement-breakpoint
CREATE INDEX `customers_shop` ON `customers` (`shop_id`,`id`);--> statement-breakpoint
CREATE INDEX `customers_shop_name` ON `customers` (`shop_id`,lower("name"));--> statement-breakpoint
CREATE INDEX `orders_guests` ON `orders` (`shop_id`,lower("email"),`id`) WHERE customer_id is null;