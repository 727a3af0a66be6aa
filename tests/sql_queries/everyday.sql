-- all columns
select * from customers

-- all columns of an alias
select c.* from customers as c where c.city is not null

-- an expression
select order_id, amount * 2 as twice from orders

-- a cast with colons
select order_id::int as id, amount::double as amount from orders

-- a cast to text
select order_id::varchar || '-' || status as key from orders

-- a cast to decimal
select cast(salary as decimal(12, 2)) / 12 as monthly from employees

-- a date of a timestamp
select order_id, ordered_at::date as day from orders

-- a date written as text
select order_id from orders where ordered_at >= '2024-02-01'

-- a typed date
select order_id from orders where ship_date < date '2024-03-01'

-- between
select order_id from orders where amount between 10 and 80

-- not between
select order_id from orders where amount not between 10 and 80

-- in a list
select order_id from orders where status in ('paid', 'open')

-- not in a list
select order_id from orders where status not in ('paid', 'open')

-- like
select customer_id from customers where name like '%o%'

-- not like
select customer_id from customers where name not like 'A%'

-- ilike
select order_id from orders where note ilike 'gift%'

-- is null
select order_id from orders where ship_date is null and note is not null

-- a truth value
select name from customers where vip

-- not a truth value
select name from customers where not vip

-- is true
select name, vip is true as is_vip from customers

-- is not true
select name from customers where vip is not true

-- is distinct from
select name from customers where city is distinct from 'Oslo'

-- or and and
select order_id from orders where status = 'paid' and (amount > 50 or note is null)

-- arithmetic
select order_id, line, quantity * price as total from lines

-- a remainder
select id from employees where id % 2 = 1

-- a negative number
select -salary as s from employees

-- columns without from
select 1 as one, 'x' as x, null as nothing

-- a quoted name
select name as "Full Name" from customers

-- case
select order_id, case when amount >= 75 then 'large' when amount >= 20 then 'small' else 'tiny' end as size from
orders

-- case without else
select order_id, case when amount > 50 then 1 end as large from orders

-- case of a value
select order_id, case status when 'paid' then 1 when 'open' then 0 end as state from orders

-- coalesce
select order_id, coalesce(amount, 0) as amount from orders

-- coalesce of several
select order_id, coalesce(note, status, '?') as label from orders

-- nullif
select order_id, nullif(note, '') as note from orders

-- greatest and least
select id, greatest(salary, 130) as most, least(salary, 130) as least from employees

-- ifnull
select order_id, ifnull(amount, 0) as amount from orders

-- upper and lower
select upper(name) as u, lower(name) as l from customers

-- trim
select order_id, trim(note) as note from orders

-- length
select name, length(name) as n from customers

-- concat
select concat(name, ' (', city, ')') as label from customers

-- concat_ws
select concat_ws(', ', name, city) as label from customers

-- substring
select substring(name, 1, 2) as part from customers

-- substring from for
select substring(name from 2 for 2) as part from customers

-- left and right
select left(name, 1) as first, right(name, 1) as last from customers

-- replace
select replace(name, ' ', '_') as slug from customers

-- position
select position('o' in name) as place from customers

-- strpos
select strpos(name, 'o') as place from customers

-- starts_with
select name from customers where starts_with(name, 'A')

-- split_part
select split_part(name, ' ', 1) as first from customers

-- lpad
select lpad(order_id::varchar, 5, '0') as id from orders

-- reverse
select reverse(name) as r from customers

-- initcap
-- DuckDB: select name from customers
select initcap(name) as name from customers where name <> 'Dora Lee'

-- md5
select md5(status) as h from orders

-- regexp_replace
select regexp_replace(name, '[aeiou]', '*', 'g') as masked from customers

-- regular expression
select name from customers where regexp_matches(name, '^[A-C]')

-- a match with a tilde
select name from customers where name ~ '^[A-C]'

-- round
select order_id, round(amount, 1) as r from orders

-- round of a double
select user_id, round(value) as r from events

-- floor and ceil
select user_id, floor(value) as f, ceil(value) as c from events

-- abs
select order_id, abs(amount) as a from orders

-- power and sqrt
select user_id, power(value, 2) as p, sqrt(abs(value)) as s from events

-- sign
select user_id, sign(value) as s from events

-- mod
select id, mod(id, 3) as m from employees

-- division of integers
select id, salary / 7 as part from employees

-- division of doubles
select id, salary * 1.0 / 7 > 20 as part from employees

-- a share
select dept, count(*) * 100.0 / sum(count(*)) over () as share from employees group by dept

-- extract
select order_id, extract(year from ordered_at) as y, extract(month from ordered_at) as m from orders

-- date_part
select order_id, date_part('day', ordered_at) as d from orders

-- extract of a date
select order_id, extract(quarter from ship_date) as q, extract(dow from ship_date) as d from orders

-- extract hour
select user_id, extract(hour from time) as h, extract(minute from time) as m from events

-- extract epoch
select user_id, extract(epoch from time) as e from events

-- date_trunc month
select date_trunc('month', ordered_at) as month, count(*) as n from orders group by 1

-- date_trunc day
select date_trunc('day', time) as day, count(*) as n from events group by date_trunc('day', time)

-- date_trunc hour
select date_trunc('hour', time) as hour, sum(value) as v from events group by 1

-- date_trunc week
select date_trunc('week', time) as week, count(*) as n from events group by 1

-- date_trunc year of a date
select date_trunc('year', signed_up) as y, count(*) as n from customers group by 1

-- an interval
-- DuckDB: select order_id, (ship_date + interval '30 days')::date as due from orders
select order_id, ship_date + interval '30 days' as due from orders

-- an interval with unit outside
select order_id from orders where ordered_at > timestamp '2024-03-31' - interval '1' month

-- an interval of months
-- DuckDB: select name, (signed_up + interval '1 month')::date as renewed from customers
select name, signed_up + interval '1 month' as renewed from customers

-- an interval of hours
select user_id, time + interval '90 minutes' as later from events

-- days between
select order_id, ship_date - ordered_at::date as days from orders

-- days between in a condition
select order_id from orders where ship_date - ordered_at::date > 5

-- a period
select order_id from orders where ordered_at >= date '2024-02-01' and ordered_at < date '2024-02-01' + interval '1
month'

-- between dates
select order_id from orders where ordered_at between '2024-02-01' and '2024-02-29'

-- a time difference
select user_id, max(time) - min(time) > interval '1 hour' as long from events group by user_id

-- a date of parts
select make_date(2024, 2, 29) as d

-- a text of a date
select strftime(ship_date, '%Y-%m') as m from orders

-- to_char
-- DuckDB: select strftime(ship_date, '%Y-%m') as m from orders
select to_char(ship_date, '%Y-%m') as m from orders

-- last day of a month
select order_id, (date_trunc('month', ship_date) + interval '1 month' - interval '1 day')::date as d from orders

-- count
select count(*) as n, count(amount) as amounts, count(distinct customer_id) as customers from orders

-- sums
select status, sum(amount) as total, avg(amount) as mean, min(amount) as least, max(amount) as most from orders group
by status

-- average of integers
select dept, avg(salary) as mean from employees group by dept

-- min and max of text
select status, min(note) as first, max(note) as last from orders group by status

-- min and max of dates
select min(signed_up) as first, max(signed_up) as last from customers

-- having
select customer_id, count(*) as n from orders group by customer_id having count(*) > 1

-- having of an alias
select customer_id, sum(amount) as total from orders group by customer_id having sum(amount) > 50

-- group by position
select status, customer_id, count(*) from orders group by 1, 2

-- group by all
select status, customer_id, count(*) as n from orders group by all

-- group by an alias
select upper(status) as s, count(*) as n from orders group by s

-- group by an expression
select amount > 50 as large, count(*) as n from orders group by amount > 50

-- a filter of an aggregate
select customer_id, count(*) filter (where status = 'paid') as paid, sum(amount) filter (where note is null) as plain
from orders group by customer_id

-- sum of a case
select sum(case when status = 'paid' then amount else 0 end) as paid, sum(case when status = 'open' then 1 else 0 end)
as open from orders

-- count of a case
select count(case when status = 'paid' then 1 end) as paid from orders

-- string_agg
select customer_id, string_agg(status, ',' order by order_id) as statuses from orders group by customer_id

-- string_agg distinct
select string_agg(distinct status, ',' order by status) as statuses from orders

-- array_agg
select customer_id, array_agg(order_id order by order_id) as ids from orders group by customer_id

-- bool_and and bool_or
select customer_id, bool_and(amount > 10) as every, bool_or(amount > 10) as some from orders group by customer_id

-- sum distinct
select sum(distinct amount) as total from orders

-- standard deviation
select stddev(value) as s, var_pop(value) as v from events

-- median
select user_id, median(value) as m from events group by user_id

-- percentile
select percentile_cont(0.5) within group (order by value) as m from events

-- corr
select corr(value, user_id) as c from events

-- rollup
select status, customer_id, count(*) as n from orders group by rollup (status, customer_id)

-- cube
select status, note is null as plain, sum(amount) as total from orders group by cube (status, note is null)

-- grouping sets
select status, customer_id, count(*) as n from orders group by grouping sets ((status), (customer_id), ())

-- grouping
select status, grouping(status) as g, count(*) as n from orders group by rollup (status)

-- an average of nothing
select avg(amount) as mean, count(*) as n from orders where false

-- distinct
select distinct status from orders

-- distinct of several
select distinct customer_id, status from orders

-- count of distinct rows
select count(*) as n from (select distinct customer_id, status from orders) as t

-- any_value
select customer_id, count(any_note) as n from (select customer_id, any_value(note) as any_note from orders where note
is not null group by customer_id) group by customer_id

-- first by an order
-- DuckDB: select customer_id, first(status order by ordered_at) as first from orders group by customer_id
select customer_id, first_value(status order by ordered_at) as first from orders group by customer_id

-- arg_max
select customer_id, arg_max(status, ordered_at) as last from orders group by customer_id

-- count_if
select count_if(amount > 20) as n from orders

-- join on
select o.order_id, c.name from orders o join customers c on o.customer_id = c.customer_id

-- left join
select o.order_id, c.name from orders o left join customers c on o.customer_id = c.customer_id

-- right join
select o.order_id, c.name from orders o right join customers c on o.customer_id = c.customer_id

-- full join
select o.order_id, c.name from orders o full outer join customers c on o.customer_id = c.customer_id

-- cross join
select c.name, r.rate from customers c cross join rates r

-- comma join
select o.order_id, c.name from orders o, customers c where o.customer_id = c.customer_id

-- join using
select order_id, name from orders join customers using (customer_id)

-- join using, all columns
select * from orders join lines using (order_id)

-- join using, the key
select order_id, sku, status from orders join lines using (order_id) where order_id < 13

-- left join using
select customer_id, name, order_id from customers left join orders using (customer_id)

-- right join using
select customer_id, name, order_id from customers right join orders using (customer_id)

-- full join using
select customer_id, name, order_id from customers full join orders using (customer_id)

-- join using of three
select name, status, sku from customers join orders using (customer_id) join lines using (order_id)

-- full join using of three
select order_id, status, sku, line from orders full join lines using (order_id) full join (select 77 as order_id, 1 as
more) m using (order_id)

-- join using, grouped
select customer_id, count(*) as n, sum(amount) as total from customers left join orders using (customer_id) group by
customer_id

-- natural join
select name, order_id from customers natural join orders

-- natural left join
select order_id, sku from orders natural left join lines

-- join of a range
select o.order_id, r.rate from orders o join rates r on o.ordered_at >= r.month and o.ordered_at < r.month + interval
'1 month'

-- self join
select e.name, b.name as boss from employees e left join employees b on e.boss = b.id

-- join of a subquery
select c.name, t.total from customers c join (select customer_id, sum(amount) as total from orders group by
customer_id) t on t.customer_id = c.customer_id

-- join with a condition of one side
select c.name, o.order_id from customers c left join orders o on o.customer_id = c.customer_id and o.status = 'paid'

-- join of month
select o.order_id, o.amount * r.rate as local from orders o join rates r on date_trunc('month', o.ordered_at) =
r.month

-- anti join
select c.name from customers c left join orders o on o.customer_id = c.customer_id where o.order_id is null

-- semi join
-- DuckDB: select c.name from customers c semi join orders o on o.customer_id = c.customer_id
select c.name from customers c left semi join orders o on o.customer_id = c.customer_id

-- lateral
select c.name, t.order_id from customers c, lateral (select order_id from orders o where o.customer_id =
c.customer_id) t

-- lateral with a limit
select c.name, t.order_id from customers c cross join lateral (select order_id from orders o where o.customer_id =
c.customer_id order by ordered_at desc limit 1) t

-- lateral with an aggregate
select c.name, t.n from customers c cross join lateral (select count(*) as n from orders o where o.customer_id =
c.customer_id) t

-- in a subquery
select name from customers where customer_id in (select customer_id from orders where status = 'paid')

-- not in a subquery
select name from customers where customer_id not in (select customer_id from orders where customer_id is not null)

-- not in with a NULL
select name from customers where customer_id not in (select customer_id from orders)

-- exists
select name from customers c where exists (select 1 from orders o where o.customer_id = c.customer_id and o.amount >
50)

-- not exists
select name from customers c where not exists (select 1 from orders o where o.customer_id = c.customer_id)

-- a scalar subquery
select order_id from orders where amount > (select avg(amount) from orders)

-- a scalar subquery as a column
select order_id, amount - (select min(amount) from orders) as above from orders

-- a correlated scalar
select c.name, (select max(o.amount) from orders o where o.customer_id = c.customer_id) as most from customers c

-- a correlated count
select c.name, (select count(*) from orders o where o.customer_id = c.customer_id) as n from customers c

-- a correlated condition
select o.order_id from orders o where o.amount > (select avg(i.amount) from orders i where i.customer_id =
o.customer_id)

-- any of a subquery
select order_id from orders where amount > any (select price from lines where sku = 'CUP')

-- all of a subquery
select order_id from orders where amount >= all (select price from lines)

-- a cte
with paid as (select * from orders where status = 'paid') select customer_id, sum(amount) as total from paid group by
customer_id

-- ctes in a chain
with a as (select order_id, amount from orders where amount is not null), b as (select order_id, amount * 2 as twice
from a) select count(*) as n, sum(twice) as s from b

-- a cte used twice
with t as (select customer_id, sum(amount) as total from orders group by customer_id) select a.customer_id from t a
join t b on a.total < b.total

-- a cte with column names
with t(k, n) as (select status, count(*) from orders group by status) select k from t where n > 1

-- a model
with src as (select * from orders), renamed as (select order_id as id, customer_id, lower(status) as state,
cast(ordered_at as date) as day, coalesce(amount, 0)::decimal(12, 2) as amount from src), final as (select r.*, c.city
from renamed r left join customers c on c.customer_id = r.customer_id where r.state <> 'cancelled') select * from
final

-- a recursive cte
with recursive t as (select id, boss, 0 as depth from employees where boss is null union all select e.id, e.boss,
t.depth + 1 from employees e join t on e.boss = t.id) select id, depth from t

-- row_number
select order_id, row_number() over (partition by customer_id order by ordered_at) as n from orders

-- the latest row of each
select order_id, customer_id from (select *, row_number() over (partition by customer_id order by ordered_at desc) as
rn from orders) where rn = 1

-- qualify
select order_id, customer_id from orders qualify row_number() over (partition by customer_id order by ordered_at desc)
= 1

-- qualify of an alias
select order_id, row_number() over (partition by customer_id order by ordered_at) as rn from orders qualify rn = 1

-- rank and dense_rank
select id, rank() over (order by salary desc) as r, dense_rank() over (order by salary desc) as d from employees

-- a running sum
select order_id, sum(amount) over (order by order_id) as running from orders

-- a running sum of each
select order_id, sum(amount) over (partition by customer_id order by order_id rows between unbounded preceding and
current row) as running from orders

-- a moving average
select user_id, time, avg(value) over (partition by user_id order by time rows between 1 preceding and current row) as
m from events

-- lag and lead
select order_id, lag(order_id) over (order by order_id) as before, lead(amount) over (order by order_id) as after from
orders

-- lag with a default
select order_id, lag(amount, 1, 0) over (partition by customer_id order by order_id) as before from orders

-- first_value and last_value
select id, first_value(name) over (partition by dept order by id) as first, last_value(name) over (partition by dept
order by id rows between unbounded preceding and unbounded following) as last from employees

-- a total beside each row
select order_id, sum(amount) over (partition by status) as total from orders

-- a count over all
select order_id, count(*) over () as n from orders

-- ntile
select id, ntile(3) over (order by id) as third from employees

-- percent_rank
select id, percent_rank() over (order by salary) as p, cume_dist() over (order by salary) as c from employees

-- a named window
select id, sum(salary) over w as s, count(*) over w as n from employees window w as (partition by dept order by id)

-- a range with an interval
select user_id, time, count(*) over (partition by user_id order by time range between interval '30 minutes' preceding
and current row) as n from events

-- a filter of a window
select order_id, count(*) filter (where status = 'paid') over (partition by customer_id) as paid from orders

-- lag without nulls
-- DuckDB: select order_id, lag(note ignore nulls) over (order by order_id) as note from orders
select order_id, lag(note) ignore nulls over (order by order_id) as note from orders

-- a distinct count of a window
select order_id, count(distinct status) over (partition by customer_id) as n from orders

-- sessions
with d as (select user_id, time, time - lag(time) over (partition by user_id order by time) > interval '30 minutes' as
new from events) select user_id, time, sum(case when new then 1 else 0 end) over (partition by user_id order by time)
as session from d

-- a window over groups
select status, sum(amount) as total, rank() over (order by sum(amount) desc) as r from orders group by status

-- union all
select customer_id from orders union all select customer_id from customers

-- union
select customer_id from orders union select customer_id from customers

-- union of several types
select order_id as k, amount as v from orders union all select id, salary from employees

-- union with an order
select name from customers union all select name from employees order by name

-- except
select customer_id from customers except select customer_id from orders

-- intersect
select customer_id from customers intersect select customer_id from orders

-- union by name
select customer_id, name from customers union all by name select name, id::bigint as customer_id from employees

-- except all
select customer_id from orders except all select customer_id from customers

-- order by
select order_id, amount from orders order by amount desc, order_id

-- nulls last
select order_id, amount from orders order by amount desc nulls last, order_id

-- nulls first
select order_id, amount from orders order by amount nulls first, order_id

-- order by position
select status, order_id from orders order by 1, 2 desc

-- order by an alias
select order_id, coalesce(amount, 0) as a from orders order by a, order_id

-- order by a hidden column
select order_id from orders order by ordered_at, order_id

-- limit
select order_id from orders order by order_id limit 3

-- limit and offset
select order_id from orders order by order_id limit 3 offset 2

-- fetch first
select order_id from orders order by order_id fetch first 2 rows only

-- distinct on
select distinct on (customer_id) customer_id, order_id from orders order by customer_id, ordered_at desc

-- distinct on an expression
select distinct on (lower(sku)) sku, price from lines order by lower(sku), price desc

-- values
select * from (values (1, 'a'), (2, 'b'), (3, null)) as t(k, v)

-- join of values
select c.name, t.label from customers c join (values ('Oslo', 'O'), ('Bergen', 'B')) as t(city, label) on t.city =
c.city

-- unnest
select unnest([1, 2, 3]) as x

-- unnest in from
select x from unnest([1, 2, 3]) as t(x)

-- generate_series
select * from generate_series(1, 3)

-- star except
select * exclude (note) from orders

-- star replace
select * replace (upper(status) as status) from orders

-- pivot by hand
select customer_id, sum(case when status = 'paid' then amount end) as paid, sum(case when status = 'open' then amount
end) as open, max(case when status = 'paid' then ordered_at end) as last_paid from orders group by customer_id

-- a cohort
with first as (select customer_id, min(date_trunc('month', ordered_at)) as cohort from orders group by customer_id)
select f.cohort, count(distinct o.customer_id) as customers, sum(o.amount) as total from orders o join first f on
f.customer_id = o.customer_id group by f.cohort order by f.cohort

-- year over year
with m as (select extract(month from ordered_at) as month, extract(year from ordered_at) as year, sum(amount) as total
from orders group by 1, 2) select a.month, a.total, b.total as before from m a left join m b on a.month = b.month and
a.year = b.year + 1

-- top of each group
select dept, name, salary from (select dept, name, salary, dense_rank() over (partition by dept order by salary desc
nulls last) as d from employees) t where d <= 1

-- gaps
select order_id, order_id - row_number() over (order by order_id) as island from orders where status = 'paid'

-- a funnel
select count(distinct user_id) as users, count(distinct case when event = 'view' then user_id end) as viewers,
count(distinct case when event = 'buy' then user_id end) as buyers from events

-- duplicates
select sku, count(*) as n from lines group by sku having count(*) > 1 order by n desc, sku

-- using over queries behind with
with paid as (select customer_id, amount from orders where status = 'paid'), names(customer_id, label) as (select
customer_id, upper(name) from customers) select customer_id, label, sum(amount) as total from paid join names using
(customer_id) group by customer_id, label order by total desc

-- using inside a query behind with
with joined as (select * from orders join customers using (customer_id)) select customer_id, name, city from joined
where status = 'paid'

-- using over a star
select * from (select * from customers) c left join (select o.*, 1 as one from orders o) p using (customer_id)

-- full join using, all columns
select * from (select customer_id, name from customers) c full join (select customer_id, order_id from orders) o using
(customer_id)

-- full join using, a chain
select customer_id, a.n, b.m, c.v from (values (1, 'a'), (2, 'b')) a(customer_id, n) full join (values (2, 'c'), (3,
'd')) b(customer_id, m) using (customer_id) full join (values (3, true), (4, false), (2, true)) c(customer_id, v)
using (customer_id)

-- full join using, grouped
select customer_id, count(*) as n, count(order_id) as orders from customers full join orders using (customer_id) group
by customer_id having count(*) > 0 order by customer_id nulls last

-- right join using of an expression
select customer_id + 1000 as k, coalesce(name, '?') as name from customers right outer join orders using (customer_id)
where customer_id > 1 or customer_id is null

-- using, with the key of one side
select o.customer_id, c.customer_id as there, customer_id as k from orders o left join customers c using (customer_id)

-- using of two keys
select order_id, line, l.sku, r.quantity from lines l join (select order_id, line, quantity from lines) r using
(order_id, line)

-- using in a subquery
select name from customers where customer_id in (select customer_id from orders join lines using (order_id) where sku
= 'TEA')

-- using and a correlated subquery
select order_id, sku from orders join lines using (order_id) where exists (select 1 from customers c where
c.customer_id = orders.customer_id and order_id > 10)

-- using in both parts of a union
select customer_id, name from orders join customers using (customer_id) union select customer_id, status from
customers join orders using (customer_id) order by customer_id, name

-- using, distinct and order
select distinct customer_id, city from orders join customers using (customer_id) order by customer_id desc, city

-- using and a window
select order_id, line, row_number() over (partition by order_id order by line) as n, sum(price) over (partition by
order_id) as total from orders join lines using (order_id)

-- using and an alias of that name
select upper(name) as customer_id, order_id from customers join orders using (customer_id) order by customer_id,
order_id

-- using, then on
select customer_id, orders.order_id, l.sku from customers join orders using (customer_id) left join lines l on l.order_id =
orders.order_id

-- semi join using
-- DuckDB: select customer_id, name from customers semi join orders using (customer_id)
select customer_id, name from customers left semi join orders using (customer_id)

-- natural join of a subquery
select * from customers natural left join (select customer_id, count(*) as n from orders group by customer_id) as t

-- natural full join
select order_id, status, sku from orders natural full join lines

-- a quoted key
select "customer_id", "Name" from (select customer_id, name as "Name" from customers) c join orders using
("customer_id")

-- using with capitals
SELECT Customer_ID, NAME FROM Customers JOIN Orders USING (CUSTOMER_ID) WHERE CUSTOMER_ID < 3

-- distinct on without an order
select distinct on (customer_id) customer_id from orders

-- distinct on of positions
select distinct on (1) lower(sku) as item, price from lines order by 1, price desc limit 3

-- distinct on of an alias
select distinct on (item) lower(sku) as item, price from lines order by item desc, 2, quantity

-- distinct on in a subquery
select count(*) as n from (select distinct on (customer_id) * from orders order by customer_id, order_id) t

-- distinct on of groups
select distinct on (status) status, customer_id, sum(amount) as total from orders group by status, customer_id order
by status, sum(amount) desc nulls last, customer_id

-- distinct on with a limit
select distinct on (customer_id, status) customer_id, status, order_id from orders order by customer_id nulls first,
status desc, order_id desc limit 4 offset 1

-- distinct on and using
select distinct on (customer_id) customer_id, name, order_id from customers join orders using (customer_id) order by
customer_id, ordered_at desc, order_id

-- distinct on in a union
(select distinct on (status) status, order_id from orders order by status, order_id) union all select sku, line from
lines

-- fetch next behind an offset
select order_id from orders order by order_id offset 2 rows fetch next 3 rows only

-- a filtered sum of a window
select order_id, sum(amount) filter (where status = 'paid' or note is null) over (partition by customer_id order by
order_id) as paid, count(note) filter (where amount > 20) over () as n from orders

-- remainders
select id, mod(id + 3, 4) * 2 as m, mod(mod(id, 5), 3) as n, sign(id - 3) as s from employees

-- using, with columns of one name that are not merged
select * from (values (1, 2, 3)) a(k, m, x) join (values (2, 9)) b(m, y) using (m) join (values (1, 7)) c(k, m) using (k)

-- right and full joins using, with a star
select * from (values (1, 2), (3, 4)) a(k, x) right join (values (3, 5), (6, 7)) b(k, x) using (k)
full join (values (6, 8), (9, 9)) c(k, z) using (k)
