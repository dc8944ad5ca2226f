CREATE TABLE `media` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`hash` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`hash`) REFERENCES `pictures`(`hash`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `media_picture` ON `media` (`shop_id`,`hash`);--> statement-breakpoint
CREATE INDEX `media_shop` ON `media` (`shop_id`,`id`);--> statement-breakpoint
CREATE INDEX `media_hash` ON `media` (`hash`);--> statement-breakpoint
CREATE TABLE `media_sources` (
	`shop_id` text NOT NULL,
	`address` text NOT NULL,
	`media_id` text NOT NULL,
	PRIMARY KEY(`shop_id`, `address`),
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`media_id`) REFERENCES `media`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `media_sources_media` ON `media_sources` (`media_id`);--> statement-breakpoint
CREATE TABLE `media_usage` (
	`shop_id` text PRIMARY KEY NOT NULL,
	`pictures` integer NOT NULL,
	`bytes` integer NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `media_uses` (
	`media_id` text NOT NULL,
	`product_id` text NOT NULL,
	PRIMARY KEY(`media_id`, `product_id`),
	FOREIGN KEY (`media_id`) REFERENCES `media`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `media_uses_product` ON `media_uses` (`product_id`);--> statement-breakpoint
CREATE TABLE `picture_files` (
	`hash` text NOT NULL,
	`width` integer NOT NULL,
	`height` integer NOT NULL,
	`type` text NOT NULL,
	`bytes` integer NOT NULL,
	`digest` text NOT NULL,
	`store` text NOT NULL,
	`storage_name` text NOT NULL,
	PRIMARY KEY(`hash`, `width`),
	FOREIGN KEY (`hash`) REFERENCES `pictures`(`hash`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `picture_files_storage` ON `picture_files` (`storage_name`);--> statement-breakpoint
CREATE TABLE `pictures` (
	`hash` text PRIMARY KEY NOT NULL,
	`type` text NOT NULL,
	`width` integer NOT NULL,
	`height` integer NOT NULL,
	`frames` integer NOT NULL,
	`bytes` integer NOT NULL,
	`created_at` integer NOT NULL
) STRICT;
